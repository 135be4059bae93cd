"""`benchforge draw`: which part of a suite connects to which, as a graph."""
