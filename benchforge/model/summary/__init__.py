"""Content of a summary: numbers, verdicts, ranks."""
