"""All that is looked at on a machine before it is trusted with a measurement."""

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchforge.cli.machine.doctor.finding import MachineFinding
from benchforge.cli.machine.doctor.machine import (
    calibration,
    cpu,
    isolation,
    limits,
    load,
    memory,
    network,
    space,
)
from benchforge.run.machine.cpu_ticks import look
from benchforge.run.sandbox.sandbox import Mode

_BETWEEN_S = 1.0


def machine(
    root: Path, mode: Mode | str, folders: Mapping[str, Path], between_s: float = _BETWEEN_S
) -> Iterator[MachineFinding]:
    """Yield what is found below `root`, the folder that holds /proc and /sys.

    It takes `between_s` seconds to see who uses the CPUs. `folders` are where a run writes, by
    purpose; `mode` is of a trial that was tried, or says why none was.
    """
    before = look(root)
    time.sleep(between_s)
    after = look(root)
    yield from cpu.findings(root)
    yield from load.findings(root, before, after, frozenset({os.getpid()}))
    yield from calibration.findings()
    yield from memory.findings(root)
    yield from space.findings(folders)
    yield from limits.findings(root)
    yield from network.findings(root)
    yield from isolation.findings(root, mode)
