"""What `benchforge doctor` looks at."""
