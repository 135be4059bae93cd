"""wrk and wrk2."""
