"""Series: trends, change points, the end of a warm-up."""
