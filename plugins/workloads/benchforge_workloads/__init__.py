"""Mixes of requests: feeds of values, kinds with their shares, and the stream that they make."""
