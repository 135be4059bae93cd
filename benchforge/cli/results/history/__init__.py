"""`benchforge history`: results over time."""
