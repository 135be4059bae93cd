"""`benchforge verify`: every number of a result computed again from its raw files."""
