"""Checks of the server: its mode, its interpreter, its resources, its restarts (D, W, S7)."""
