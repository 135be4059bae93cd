"""Results over time, and against older ones."""
