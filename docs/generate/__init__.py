"""The pages below docs/reference, drawn from the code: they say what the code says."""
