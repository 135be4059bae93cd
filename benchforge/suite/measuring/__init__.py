"""How a suite wants to be measured: blocks, CPUs, kernel settings."""
