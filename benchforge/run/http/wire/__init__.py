"""Answers of a load on its own connections, read on the trial's network in random windows."""
