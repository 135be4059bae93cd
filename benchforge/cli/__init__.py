"""Commands, a folder each, by their subjects."""
