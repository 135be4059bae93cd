"""One server's slices: thaw it, let the load tool send, wait for the last response, freeze it."""

import os
import select
import signal
import time
from pathlib import Path
from typing import NamedTuple, Protocol

from benchforge.errors import LaunchLost, OutputDamaged, TrialFailed
from benchforge.model.trial.turns import ProbedSlice, Slice
from benchforge.parts.command import Finished
from benchforge.run.machine.quiet import ticks
from benchforge.run.sandbox.sandbox import Running, Sandbox, complaint
from benchforge.run.trial.turns.freeze import Freezer, stopped
from benchforge.stats.turns import probe_lengths
from benchforge.text.readable import exact

GO, DONE = "go", "done"
"The pipes to the load tool and from it."
_LOOK_EVERY_MS = 250
_SLOWEST_S = 45.0  # beyond any time-out of a request
_TICKS = os.sysconf("SC_CLK_TCK")
_SYSTEM = Path("/")


class SliceCounts(NamedTuple):
    """What the load tool tells of a slice; times in seconds of the monotonic clock."""

    begin_s: float
    end_s: float
    sent: int | None
    responses: int
    "An estimate where the bytes are counted."
    failed: int | None
    received_bytes: int | None = None


class UncountedSlice(NamedTuple):
    """A slice that does not count; `busy_s`: CPU time and waits of server and tool, in seconds."""

    seconds: float
    responses: int
    busy_s: float

    @property
    def rate(self) -> float:
        """Responses per second."""
        return self.responses / self.seconds


class TurnTool(Protocol):
    """A load tool that sends in the slices of its server alone."""

    loader: Running

    def sent(self, length_s: float) -> SliceCounts:
        """Let it send for so long to its server, which runs, and return its counts."""
        ...

    def rested(self, counts: SliceCounts) -> SliceCounts:
        """Return what a slice had, once its server is frozen again; the tool sends nothing now."""
        ...

    def anew(self) -> None:
        """Forget all that was counted so far."""

    def ask_to_end(self) -> None:
        """Ask it to end, and wait for nothing: several tools end at once."""

    def end(self, within_s: float) -> Finished:
        """Return how it ended, once it was asked to. Raises TrialFailed where it does not."""
        ...


class LoadPipes:
    """The two pipes of one load tool that takes turns, in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700)
        for name in (GO, DONE):
            os.mkfifo(folder / name, 0o600)
        # Open for both ways, so that neither side waits for the other to open its end.
        self._go = os.open(folder / GO, os.O_RDWR | os.O_CLOEXEC)
        self._done = os.open(folder / DONE, os.O_RDWR | os.O_CLOEXEC)
        self._received = b""

    def close(self) -> None:
        """Close both pipes."""
        os.close(self._go)
        os.close(self._done)

    def say(self, line: str) -> None:
        """Send a line to the load tool."""
        os.write(self._go, f"{line}\n".encode())

    def answer(self, sandbox: Sandbox, loader: Running) -> str:
        """Return the load tool's next line. Raises TrialFailed where none comes."""
        deadline = time.monotonic() + _SLOWEST_S
        while b"\n" not in self._received:
            if select.select([self._done], [], [], _LOOK_EVERY_MS / 1000)[0]:
                self._received += os.read(self._done, 4096)
            elif (end := sandbox.finished(loader)) is not None:
                message = f"{loader.label}: it ended with exit code {end.code} in its turn"
                raise TrialFailed("drive", message, log=complaint(loader))
            elif time.monotonic() > deadline:
                message = f"{loader.label}: no answer to a slice within {exact(_SLOWEST_S)} s"
                raise LaunchLost("drive", message, log=complaint(loader))
        line, _, self._received = self._received.partition(b"\n")
        return line.decode(errors="replace")


class PipedTool:
    """A load tool that a pipe tells when to send, and that is stopped between its slices."""

    def __init__(self, sandbox: Sandbox, loader: Running, pipes: LoadPipes) -> None:
        self.loader, self._sandbox, self._pipes = loader, sandbox, pipes

    def sent(self, length_s: float) -> SliceCounts:
        """Let it send for so long, and return its counts once it has the last response."""
        line = self._answered(f"slice {round(length_s * 1e9)}")
        try:
            begin, end, sent, responses, failed = map(int, line.split())
        except ValueError:
            raise OutputDamaged(f"{self.loader.label}: no slice: {line!r:.100}") from None
        return SliceCounts(begin / 1e9, end / 1e9, sent, responses, failed)

    def rested(self, counts: SliceCounts) -> SliceCounts:
        """Stop it, and return the counts: it has told them."""
        stopped(self._sandbox, self.loader)
        return counts

    def anew(self) -> None:
        """Forget all that was counted so far."""
        self._answered("anew")

    def _answered(self, line: str) -> str:
        self._say(line)
        return self._pipes.answer(self._sandbox, self.loader)

    def _say(self, line: str) -> None:
        self._pipes.say(line)
        self._sandbox.signal(self.loader, signal.SIGCONT)

    def ask_to_end(self) -> None:
        """Ask it to end, and wait for nothing."""
        self._say("end")

    def end(self, within_s: float) -> Finished:
        """Return how it ended, once it was asked to. Raises TrialFailed where it does not."""
        finished = self._sandbox.wait(self.loader, within_s)
        if finished is None:
            self._sandbox.stop(self.loader)
            message = f"{self.loader.label}: it did not end after its last slice"
            raise LaunchLost("drive", message, log=complaint(self.loader))
        return finished


class Turn:
    """A server with its load tool: frozen, but in its own slices."""

    def __init__(self, tool: TurnTool, freezer: Freezer) -> None:
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

    def end(self, within_s: float) -> Finished:
        """End the load tool, then let the server go on; return how the tool ended."""
        finished = self.tool.end(within_s)
        self.freezer.thaw()
        return finished

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
