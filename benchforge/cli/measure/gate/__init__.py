"""`benchforge gate`: is the working tree slower than a base commit? For pull requests."""
