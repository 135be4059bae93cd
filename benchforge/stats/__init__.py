"""Numbers about numbers: pure functions of a header and its trials."""
