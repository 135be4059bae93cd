"""`benchforge report`: summary and reports of a stored result, formed again."""
