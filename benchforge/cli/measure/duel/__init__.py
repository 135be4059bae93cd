"""`benchforge duel`: two commands or URLs compared, without a suite of the user's own."""
