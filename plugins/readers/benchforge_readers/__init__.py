"""The readers of results that other tools print or publish."""
