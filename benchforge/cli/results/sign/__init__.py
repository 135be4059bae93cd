"""`benchforge sign`: a signature on the files of a result."""
