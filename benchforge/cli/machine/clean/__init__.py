"""`benchforge clean`: removal of benchforge's files on this disk."""
