"""`benchforge compare`: what changed, as far as results can tell."""
