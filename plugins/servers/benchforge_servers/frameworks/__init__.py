"""Frameworks with a server of their own."""
