"""A result computed again, from its raw files."""
