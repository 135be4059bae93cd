"""Declarations of a suite as a result holds them."""
