"""Servers: what is measured, each in one file."""
