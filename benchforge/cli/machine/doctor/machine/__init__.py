"""What `doctor` looks at on a machine before it is trusted with a measurement."""
