"""One server's slices: thaw it, let the load tool send, wait for the last response, freeze it."""

import os
import time
from pathlib import Path
from typing import NamedTuple

from benchforge.model.trial.turns import ProbedSlice, Slice
from benchforge.run.machine.quiet import ticks
from benchforge.run.trial.turns.freeze import Freezer
from benchforge.run.trial.turns.tools import FrozenTool, PipedTool, SliceCounts
from benchforge.stats.turns import probe_lengths

_TICKS = os.sysconf("SC_CLK_TCK")
_SYSTEM = Path("/")


class UncountedSlice(NamedTuple):
    """A slice that does not count; `busy_s`: CPU time and waits of server and tool, in seconds."""

    seconds: float
    responses: int
    busy_s: float

    @property
    def rate(self) -> float:
        """Responses per second."""
        return self.responses / self.seconds


class Turn:
    """A server with its load tool: frozen, but in its own slices."""

    def __init__(self, tool: PipedTool | FrozenTool, freezer: Freezer) -> None:
        self.tool, self.freezer = tool, freezer
        self.slices: list[Slice] = []
        self.own_cpu_s = 0.0
        "CPU time of benchforge in these slices."
        self.probed: list[ProbedSlice] = []
        self.waited_first_s = 0.0
        "How long threads had waited for a CPU before the slices that count."

    def uncounted(self, length_s: float) -> UncountedSlice:
        """Run a slice that does not count."""
        used_s = self.freezer.loader_cpu_s() + self.freezer.waited_s()
        ran, busy_s = self._ran(length_s)
        busy_s += self.freezer.loader_cpu_s() + self.freezer.waited_s() - used_s
        return UncountedSlice(max(1e-9, ran.end_s - ran.begin_s), ran.responses, busy_s)

    def probe(self, slice_s: float, rest_s: float) -> None:
        """Run slices of all lengths; before each the server rests as long as in turns."""
        for number, length_s in enumerate(probe_lengths(slice_s)):
            time.sleep(rest_s)
            ran = self.uncounted(length_s)
            if number:  # it has rested for long before the first one
                probed = ProbedSlice(slice_s=length_s, seconds=ran.seconds, responses=ran.responses)
                self.probed.append(probed)

    def anew(self) -> None:
        """Forget all that was counted so far."""
        self.tool.anew()
        self.freezer.frozen_cpu_s = 0.0
        self.waited_first_s = self.freezer.waited_s()

    def run(self, number: int, length_s: float, begun_s: float) -> None:
        """Run the slice of a round; `begun_s` is the moment from which its times count."""
        used, machine, process_s = self.freezer.loader_cpu_s(), _machine_s(), time.process_time()
        start_s = time.monotonic()
        ran, cpu_s = self._ran(length_s)
        loader_s, own_s = self.freezer.loader_cpu_s() - used, time.process_time() - process_s
        machine_after = _machine_s()
        foreign_s = None if machine_after is None or machine is None else machine_after - machine
        if foreign_s is not None:
            foreign_s = round(foreign_s - cpu_s - loader_s - own_s, 6)
        self.own_cpu_s += own_s
        self.slices.append(
            Slice(
                round=number,
                start_s=start_s - begun_s,
                end_s=max(ran.end_s, start_s) - begun_s,
                sent=ran.sent,
                responses=ran.responses,
                received_bytes=ran.received_bytes,
                failed=ran.failed,
                drained_s=max(0.0, ran.end_s - ran.begin_s - length_s),
                cpu_s=cpu_s,
                loader_cpu_s=max(0.0, loader_s),
                foreign_cpu_s=foreign_s,
            )
        )

    def _ran(self, length_s: float) -> tuple[SliceCounts, float]:
        """Return what a slice had, and what its server used of the CPUs in it."""
        self.freezer.thaw()
        counts = self.tool.sent(length_s)
        cpu_s = self.freezer.freeze()
        return self.tool.rested(counts), cpu_s


def _machine_s() -> float | None:
    """Return what all processes and the hypervisor used of the CPUs that benchforge may use."""
    used = ticks(_SYSTEM, os.sched_getaffinity(0))
    return None if used is None else (used.busy + used.stolen) / _TICKS
