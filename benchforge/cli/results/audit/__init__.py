"""`benchforge audit`: what results of other tools cannot be."""
