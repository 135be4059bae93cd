"""Commands that measure: they start servers and load tools."""
