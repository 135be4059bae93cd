"""What is written to disk: frozen values, each in a file of its own, that know no process."""
