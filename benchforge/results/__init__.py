"""Results on disk: concluded, reported, resumed, checked, and compared over time."""
