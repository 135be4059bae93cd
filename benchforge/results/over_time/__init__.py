"""Results over time: levels, series, and whether a result is what older ones predict."""
