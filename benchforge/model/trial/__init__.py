"""A trial: its answers, its reading, its observations, its checks."""
