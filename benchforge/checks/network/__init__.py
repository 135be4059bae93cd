"""Checks of connections: keep-alive, ports, delayed acknowledgements, TLS (K, W4)."""
