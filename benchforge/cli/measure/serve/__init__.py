"""`benchforge serve`: one server of a suite."""
