"""WSGI servers."""
