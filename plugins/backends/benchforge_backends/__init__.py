"""Backends: the services that a server needs, each in one file."""
