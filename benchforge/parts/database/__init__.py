"""The bases of backends with data, and the built-in data."""
