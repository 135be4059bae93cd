"""How fit a machine is to measure: each subject a pure function of what the kernel tells."""
