"""From trials to the summary of a result."""
