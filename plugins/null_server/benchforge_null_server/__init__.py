"""A server that does nothing: the ceiling of load tools, and the calibration."""
