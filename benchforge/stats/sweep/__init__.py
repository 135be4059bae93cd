"""Throughput at rising concurrency, and the universal scalability law."""
