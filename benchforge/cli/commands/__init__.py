"""What each command takes and its help; what it does is imported when it runs."""
