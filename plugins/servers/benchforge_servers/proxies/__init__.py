"""Servers that stand before others."""
