"""The identities: what the numbers of a row or a table must be to one another."""
