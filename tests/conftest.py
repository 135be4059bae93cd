"""Fixtures of all tests."""

from front_door import bench
from serving import site

__all__ = ["bench", "site"]
