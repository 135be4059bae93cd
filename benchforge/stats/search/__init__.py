"""The search for the highest rate that meets an objective."""
