"""Reports for CI servers."""
