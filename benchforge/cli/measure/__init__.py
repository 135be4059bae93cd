"""Commands that start servers: `run`, `serve`, `calibrate`."""
