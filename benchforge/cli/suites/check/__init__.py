"""`benchforge check`: what is wrong with suites, and what they need that is not here."""
