"""Timers: tools that repeat a command or a function, and time each run."""
