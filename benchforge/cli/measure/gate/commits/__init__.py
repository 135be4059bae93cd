"""What a gate compares: the base commit, and the packages that each commit pins."""
