"""What is read while a load runs: one file for each source."""
