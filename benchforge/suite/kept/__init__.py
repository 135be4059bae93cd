"""The suite that a result holds: read again."""
