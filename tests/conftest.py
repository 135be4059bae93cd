"""Fixtures of all tests, and how they run side by side."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence

import execnet
import pytest
from faults.clock import clock
from front_door import OWN_PLACE, bench
from installed import wheel
from made.calibrated import calibrated
from serving.in_trial import site
from serving.postgres import postgres
from third_party import installs

__all__ = ["bench", "calibrated", "clock", "installs", "postgres", "site", "wheel"]


def pytest_configure() -> None:
    """Hear interrupts: who is started in the background ignores them, and so would all we start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many workers `-n auto` starts: tests wait more than they compute."""
    refused = subprocess.run([*OWN_PLACE, "true"], capture_output=True, text=True, check=False)
    if refused.returncode:
        sys.stderr.write(f"one test after the other: {refused.stderr.strip()}\n")
        return 1
    return len(os.sched_getaffinity(0)) + 1


def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[execnet.XSpec]) -> None:
    """Give each worker a place of its own, in which no test meets another's."""
    if len(specs) > 1:
        for spec in specs:
            spec.python = shlex.join([*OWN_PLACE, sys.executable])
