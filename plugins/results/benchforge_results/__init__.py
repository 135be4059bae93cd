"""Stored results: read, reported, compared, and checked; a folder for each command."""
