"""Profiles, `--set` and `"*"`: what is laid over a suite."""
