"""weighttp."""
