"""The files of a result, and how they are read."""
