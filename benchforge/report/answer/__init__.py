"""The answer to a comparison: its sentence, its ratio on an axis, and what may move it."""
