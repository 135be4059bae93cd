"""Any command, and any URL."""
