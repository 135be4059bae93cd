"""A suite: one TOML file, read once into frozen values, and the cases that it declares."""
