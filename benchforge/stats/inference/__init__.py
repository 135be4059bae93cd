"""Intervals, tests, and corrections for many comparisons."""
