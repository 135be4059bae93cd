"""Commands that read results, and results of other tools."""
