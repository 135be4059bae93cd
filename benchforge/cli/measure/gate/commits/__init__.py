"""Commits of a gate: the base, and the packages that each commit pins."""
