"""`benchforge plugins`: the available parts, and what the author of a part needs."""
