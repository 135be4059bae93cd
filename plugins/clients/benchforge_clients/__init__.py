"""Clients: HTTP libraries that make requests, each in one file; their drivers are plain files."""
