"""The near end: what benchforge does with connected hosts, whatever engine connects them."""
