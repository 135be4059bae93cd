"""The common parts of servers of Python apps: the app, its runner, its address."""
