"""`benchforge plan`: cases, order and times of a run."""
