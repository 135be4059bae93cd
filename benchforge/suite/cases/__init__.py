"""Cases: every part of a scenario at one point of its matrix."""
