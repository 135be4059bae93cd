"""A host's end of a connection: it runs the host's part of a trial."""
