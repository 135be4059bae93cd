"""Claims and tables: every name in them resolved to cases."""
