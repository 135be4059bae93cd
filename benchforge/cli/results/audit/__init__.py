"""`benchforge audit`: contradictions in results of other tools."""
