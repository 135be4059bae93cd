"""Checks of answers: errors, and whether all servers answer alike (E)."""
