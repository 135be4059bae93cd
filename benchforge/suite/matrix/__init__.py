"""The matrix of a scenario: its axes and points."""
