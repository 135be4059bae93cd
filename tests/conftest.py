"""Fixtures of all tests."""

from calibrated import calibrated
from front_door import bench
from installed import wheel
from private_postgres import postgres
from serving import site
from third_party import installs

__all__ = ["bench", "calibrated", "installs", "postgres", "site", "wheel"]
