"""`benchforge plugins`: the available parts, and the commands of authors."""
