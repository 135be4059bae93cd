"""Trials in turns: servers that run at once, each in slices of its own."""
