"""Commands that compare results: `compare`, `history`."""
