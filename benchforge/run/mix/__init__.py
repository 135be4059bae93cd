"""A mix at a server that runs: logins, probes, the monitor."""
