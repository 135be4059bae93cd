"""From rows of usage to the figures of a trial."""
