"""benchforge's end of the connections: the hosts of a run, and one trial over them."""
