"""The machine: its facts, its CPUs, and whether it is quiet."""
