"""Folders: results, scratch, the cache, and what a killed run left."""
