"""Fixtures of all tests, and how they run side by side."""

import gc
import os
import shlex
import signal
import sys
from collections.abc import Sequence

import execnet
import pytest
from front_door import OWN_PLACE, bench, captured
from hypothesis import HealthCheck, settings

from benchforge import __main__ as program

__all__ = ["bench"]
pytest_plugins = (
    *("faults.clock", "installed", "made.calibrated", "planted.validity", "serving.in_trial"),
    *("serving.postgres", "serving.templates", "third_party"),
)

# An example is not wrong because the machine is loud; and what fails today failed yesterday. Most
# faults fail in the first examples: `make test-all` tries twice as many. By hand: random ones.
settings.register_profile(
    "long", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("calm", settings.get_profile("long"), max_examples=50)
settings.register_profile("random", settings.get_profile("long"), derandomize=False)
settings.load_profile("calm")


def pytest_configure() -> None:
    """Hear interrupts: who is started in the background ignores them, and so would all we start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(*program._GARBAGE_AFTER)


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from thousands of tests that stay."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make all but n cases of a test with the mark `samples(n)` exhaustive; validity has time."""
    sampled: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.path.parent.name == "validity" and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(1000))
        if item.get_closest_marker("samples"):
            sampled.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in sampled.values():
        mark = cases[0].get_closest_marker("samples")
        count = min(mark.args[0], len(cases)) if mark else 0
        chosen = {number * len(cases) // count for number in range(count)}
        for number, case in enumerate(cases):
            if number not in chosen:
                case.add_marker("exhaustive")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """How many workers `-n auto` starts: tests wait more than they compute."""
    refused = captured([*OWN_PLACE, "true"])
    if refused.returncode:
        sys.stderr.write(f"one test after the other: {refused.stderr.strip()}\n")
        return 1
    return 2 * len(os.sched_getaffinity(0))


def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[execnet.XSpec]) -> None:
    """Give each worker a place of its own, in which no test meets another's."""
    if len(specs) > 1:
        for spec in specs:
            spec.python = shlex.join([*OWN_PLACE, sys.executable])
