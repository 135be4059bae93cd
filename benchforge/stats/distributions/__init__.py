"""Distributions: beta, and Student's t."""
