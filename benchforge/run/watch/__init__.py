"""Observation of a load: one file for each source."""
