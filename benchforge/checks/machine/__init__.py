"""Checks of the machine: noise, clocks, memory, shared CPUs (N, F, M, T, P, G)."""
