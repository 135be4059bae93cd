"""TOML text to located values, and the faults in it."""
