"""Servers in turns: the order of slices, and what the slices say together."""
