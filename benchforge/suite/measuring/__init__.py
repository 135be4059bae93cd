"""Tables about measuring: blocks, CPUs, kernel settings, hosts."""
