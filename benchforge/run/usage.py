"""What the parts of a trial use while it is measured, read from /proc."""

import contextlib
import os
import time
from pathlib import Path

from benchforge.model.observation import Observation, Role, Usage
from benchforge.run.here import Here, Running
from benchforge.run.placement import Stay

EVERY_S = 1.0
_SWEEP_SHARE = 0.01  # reading memory takes at most this share of one CPU
_TICKS = os.sysconf("SC_CLK_TCK")
_UTIME, _CSTIME = 11, 15  # positions after the program's name in /proc/PID/stat


class Watch:
    """Collects usage from the start of the load to its end; `sample` is called in between.

    `foreign` says why the network's counters hold connections of others than the load tool. `stay`
    looks on which CPUs the processes are that are found.
    """

    def __init__(
        self,
        here: Here,
        services: dict[str, tuple[Role, Running | None]],
        foreign: str,
        stay: Stay,
    ) -> None:
        self._here = here
        self._stay = stay
        self._foreign = foreign
        self._parts = dict(services)
        self._cpu_before = {label: self._cpu(one) for label, (_, one) in services.items()}
        self._peak: dict[str, int] = {}
        self._swept = 0
        self._hidden: set[str] = set()
        self._sweep_s = 0.0
        self.sample()
        self._swept_before_load = self._swept
        self._counters = here.counters()
        self._own_cpu = time.process_time()
        self._begun = time.monotonic()

    @property
    def every_s(self) -> float:
        """Seconds between two samples: memory of many processes is expensive to read."""
        return max(EVERY_S, self._sweep_s / _SWEEP_SHARE)

    def add_loader(self, label: str, running: Running) -> None:
        """Watch a process of the load tool too."""
        self._parts[label] = ("loader", running)
        self._stay.look(label, "loader", self._here.processes(running))

    def sample(self) -> None:
        """Note how much memory each part has now."""
        begun = time.process_time()
        for label, (_, running) in self._parts.items():
            if running is not None:
                with contextlib.suppress(OSError):
                    self._note(label, running)
        self._swept += 1
        self._sweep_s = max(self._sweep_s, time.process_time() - begun)

    def _note(self, label: str, running: Running) -> None:
        pids = self._here.processes(running)
        self._stay.look(label, self._parts[label][0], pids)
        sizes = [_pss(pid) for pid in pids]
        if None in sizes:
            self._hidden.add(label)
        size = sum(one for one in sizes if one is not None)
        self._peak[label] = max(self._peak.get(label, 0), size)

    def _cpu(self, running: Running | None) -> float | None:
        if running is None:
            return None
        seconds = [_cpu_seconds(pid) for pid in self._here.processes(running)]
        return sum(one for one in seconds if one is not None)

    def observation(self, loader_cpu_s: dict[str, float]) -> Observation:
        """Return what was seen; `loader_cpu_s` is what ended load tools used in all."""
        seconds = time.monotonic() - self._begun
        own = time.process_time() - self._own_cpu
        after = self._here.counters()
        grown = {
            name: after[name] - before
            for name, before in self._counters.items()
            if name in after and after[name] != before
        }
        self._look_where_all_are()
        usage = tuple(self._usage(label, loader_cpu_s) for label in self._parts)
        return Observation(
            seconds=seconds,
            usage=usage,
            network=self._here.mode.network,
            counters=grown,
            foreign_connections=self._foreign,
            sampler_cpu_s=own,
        )

    def _look_where_all_are(self) -> None:
        for label, (role, running) in self._parts.items():
            if running is not None:
                self._stay.look(label, role, self._here.processes(running))
        self._stay.look_at_rest(self._here.init_pid)

    def _usage(self, label: str, loader_cpu_s: dict[str, float]) -> Usage:
        role, running = self._parts[label]
        if running is None:
            return Usage(
                label=label,
                role=role,
                cpu_s=None,
                peak_pss_bytes=None,
                why="it was running already: its processes are not known",
            )
        samples = self._swept if role != "loader" else self._swept - self._swept_before_load
        peak = None if label in self._hidden else self._peak.get(label)
        why = "" if peak is not None else "/proc does not show its memory"
        if role == "loader":
            cpu = loader_cpu_s.get(label)
            if peak is None and label not in self._hidden:
                why = "it ended before its memory was looked at"
        else:
            before, now = self._cpu_before[label], self._cpu(running)
            cpu = None if before is None or now is None else max(0.0, now - before)
        return Usage(
            label=label,
            role=role,
            cpu_s=cpu,
            peak_pss_bytes=peak,
            pss_samples=samples,
            processes=len(self._here.processes(running)) or None,
            why=why,
        )


def _pss(pid: int) -> int | None:
    """Proportional set size in bytes; 0 for a process that has ended, None when it is hidden."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except PermissionError:
        return None
    for line in text.splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0  # a zombie has no memory


def _cpu_seconds(pid: int) -> float | None:
    """User and system time, ended and waited-for children included, in steps of a clock tick."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return sum(int(field) for field in fields[_UTIME:_CSTIME]) / _TICKS
