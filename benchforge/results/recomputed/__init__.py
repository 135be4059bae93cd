"""Verification: a stored result is computed again from its raw files."""
