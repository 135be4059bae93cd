"""`benchforge validate`: whether the files of a result agree."""
