"""Mixes of requests: feeds, kinds with their shares, and the stream that they make."""
