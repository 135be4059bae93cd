"""Loaders: the tools that put load on a server, each in one file."""
