"""Published tables: rows of many measurements."""
