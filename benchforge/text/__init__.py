"""Text for people: how a number, a list and a stranger's text are written, each in one way."""
