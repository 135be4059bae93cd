"""The null server, and the most that a load tool gets from it."""
