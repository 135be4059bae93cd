"""`benchforge run`: from a suite to a result, its report and an exit code."""
