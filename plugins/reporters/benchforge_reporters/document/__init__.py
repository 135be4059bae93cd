"""The content of a result as values: each form renders them, and computes nothing."""
