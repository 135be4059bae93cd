"""`benchforge verify`: whether a result is proved, by its raw files and by a signature."""
