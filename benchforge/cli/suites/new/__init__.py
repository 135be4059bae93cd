"""`benchforge new`: a sample suite."""
