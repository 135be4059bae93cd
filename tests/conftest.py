"""Fixtures of all tests."""

from front_door import bench

__all__ = ["bench"]
