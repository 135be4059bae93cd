"""Fixtures of all tests."""

from front_door import bench
from private_postgres import postgres

__all__ = ["bench", "postgres"]
