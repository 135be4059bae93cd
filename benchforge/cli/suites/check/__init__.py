"""`benchforge check`: faults of suites, and their missing programs and packages."""
