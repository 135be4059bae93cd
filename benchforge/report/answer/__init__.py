"""Answers to comparisons: sentences, ratios on an axis, and quotable parts."""
