"""Checks of the load tool: its limits, its schedule, its response times (L, O, S2)."""
