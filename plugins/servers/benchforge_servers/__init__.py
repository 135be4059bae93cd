"""Servers: what is measured."""
