"""Text for people: numbers, lists, and a stranger's text, each written in one way."""
