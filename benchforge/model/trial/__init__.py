"""One trial: its answers, its reading, what was observed, its checks."""
