"""A part while it is watched: its processes, and what is known of it besides its rows."""

from collections.abc import Iterator

from benchforge.model.trial.observation import Role, Usage
from benchforge.model.trial.rows import UsageRow
from benchforge.run.sandbox.sandbox import Running, Sandbox
from benchforge.run.watch.group import PartQuota
from benchforge.run.watch.part import PartProcesses
from benchforge.run.watch.printed import OutputSize
from benchforge.run.watch.signs import open_files, signs
from benchforge.stats.timeseries.theil_sen import ENOUGH

CLOCKS_S = 0.001
"""Seconds by which what /proc tells of a process may exceed what its end tells: the kernel rounds
each for itself. What exceeds it by more is of daemons that live on."""


class Watched:
    """A part that was started here. One that runs when the load begins counts from then on."""

    def __init__(self, sandbox: Sandbox, label: str, role: Role, running: Running) -> None:
        self.label = label
        self.role: Role = role
        self.running = running
        self.part = PartProcesses(
            label,
            role,
            running.outer_pid,
            lambda: sandbox.processes(running),
            running.reaper,
        )
        self.part.begin(counted_from_birth=role == "loader")
        pids = self.part.pids
        self._shown = bool(pids)
        # A load tool has only just begun: what it is will be seen when it is none of this.
        shown = [] if role == "loader" else [signs(pid) for pid in pids]
        self._signs = tuple(sorted({sign for of_process in shown for sign in of_process or ()}))
        self._signs_hidden = None in shown
        self._open_files = min((n for pid in pids if (n := open_files(pid))), default=None)
        self._quota = PartQuota({running.outer_pid, *pids})
        self._printed = OutputSize(running, () if role == "loader" else pids)

    def row(self, at_s: float, pss_bytes: int | None, *, fully: bool) -> UsageRow | None:
        """Return what it used until now; None where /proc never showed it, or a tool has ended."""
        gone = not self.part.seen and (self.role == "loader" or not self._shown)
        return None if gone else self.part.row(at_s, pss_bytes, fully=fully)

    def last_row(self, sandbox: Sandbox, at_s: float) -> UsageRow | None:
        """Return what a load tool used until its end; its daemons as they were seen last."""
        if (end := sandbox.exit(self.running)) is None:
            return None
        ended_s, seen_s = end.user_s + end.system_s, self.part.cpu_s()
        return UsageRow(
            time_s=at_s,
            label=self.label,
            role=self.role,
            cpu_s=seen_s if seen_s > ended_s + CLOCKS_S else ended_s,
            voluntary_switches=end.voluntary,
            involuntary_switches=end.involuntary,
            major_faults=end.major_faults,
        )

    def facts(self) -> Usage:
        """Return what its rows do not tell."""
        quota_cpus, throttled = self._quota.of(self.part.busiest or self.running.outer_pid)
        return Usage(
            label=self.label,
            role=self.role,
            cpu_s=None,
            peak_pss_bytes=None,
            printed_bytes=self._printed.grown(),
            printed_line=self._printed.line(),
            open_files_limit=self._open_files,
            development_signs=self._signs,
            quota_cpus=quota_cpus,
            throttled=throttled,
        )

    def explained(self, usage: Usage) -> Usage:
        """Return what it used, and why something of it is not known."""
        return usage.model_copy(update={"why": "; ".join(self._reasons(usage))})

    def _reasons(self, usage: Usage) -> Iterator[str]:
        if usage.cpu_s is None:
            yield "/proc does not show its processes"
        if usage.peak_pss_bytes is None:
            hidden = self.part.memory_hidden or self.role != "loader"
            yield (
                "/proc does not show its memory"
                if hidden
                else "it ended before its memory was looked at"
            )
        elif usage.memory_growth is None:
            reads = usage.pss_samples
            yield f"memory_growth: its memory was read {reads} times, {ENOUGH} are needed"
        if usage.busiest_thread_cpu_s is None:
            tells_times = self.part.threads.tells_times
            yield (
                "it ended before its threads were looked at for long"
                if tells_times or self.role == "loader"
                else "the kernel does not tell how long its threads ran"
            )
        if self._open_files is None:
            yield "how many files it may open was not seen"
        if self._signs_hidden:
            yield "/proc does not show its environment: signs of instruments may be missing"
        if self._printed.why:
            yield f"printed: {self._printed.why}"

    def close(self) -> None:
        """Let go of all files."""
        self._printed.close()
