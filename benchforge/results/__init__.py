"""Stored results: read, compared, verified. Nothing here starts a process."""
