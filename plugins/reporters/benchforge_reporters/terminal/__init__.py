"""A result on a terminal."""
