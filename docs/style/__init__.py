"""The linter of prose: `python -m docs.style`."""
