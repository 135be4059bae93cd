"""Code at a commit: git, and the checkouts that servers run from."""
