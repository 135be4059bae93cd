"""Throughput at rising concurrency."""
