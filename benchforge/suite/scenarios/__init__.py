"""Scenarios: names, placeholders, axes and objectives, resolved and checked."""
