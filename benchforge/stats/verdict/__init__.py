"""From a summary to the verdicts on claims."""
