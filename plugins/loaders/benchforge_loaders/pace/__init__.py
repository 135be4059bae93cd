"""pace, the load tool of benchforge."""
