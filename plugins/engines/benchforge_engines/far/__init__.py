"""The far end: what runs on a host, started by an engine."""
