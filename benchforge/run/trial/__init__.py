"""One trial, from its services to its record."""
