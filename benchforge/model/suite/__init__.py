"""What a suite declares, as a result keeps it."""
