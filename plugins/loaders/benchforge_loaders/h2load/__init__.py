"""h2load."""
