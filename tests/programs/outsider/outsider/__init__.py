"""A part of each kind, and a command, as somebody else writes them."""
