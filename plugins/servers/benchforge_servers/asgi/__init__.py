"""ASGI servers."""
