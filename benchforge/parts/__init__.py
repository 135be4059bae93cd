"""Base classes of plugins and the values that they return; no part starts a process."""
