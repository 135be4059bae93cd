"""Benchmarks as code that people can trust.

Importing this package costs nothing: everything is imported where it is used.
"""
