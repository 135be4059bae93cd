"""What a result says: numbers, verdicts, ranks."""
