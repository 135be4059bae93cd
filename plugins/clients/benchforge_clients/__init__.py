"""Clients: HTTP libraries that make requests; their drivers are plain files."""
