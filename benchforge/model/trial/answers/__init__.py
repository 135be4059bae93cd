"""What servers answered: before and after a load, and at random moments of it."""
