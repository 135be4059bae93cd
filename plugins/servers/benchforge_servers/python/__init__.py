"""What all servers of Python apps share: the app, its runner, where it listens."""
