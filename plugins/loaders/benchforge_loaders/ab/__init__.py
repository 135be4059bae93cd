"""ApacheBench."""
