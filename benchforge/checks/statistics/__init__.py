"""Checks of the numbers: warm-up, blocks, the placebo (S), turns (I)."""
