"""`benchforge compare`: changes between results."""
