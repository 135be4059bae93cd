"""Secrets: which values are secret, and texts without them."""
