"""Fixtures of all tests."""

from front_door import bench
from installed import wheel
from private_postgres import postgres
from serving import site

__all__ = ["bench", "postgres", "site", "wheel"]
