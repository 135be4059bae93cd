"""Load tools: what they print about one load."""
