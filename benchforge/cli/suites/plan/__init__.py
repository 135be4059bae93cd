"""`benchforge plan`: what a run would measure."""
