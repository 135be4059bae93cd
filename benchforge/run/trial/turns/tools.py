"""Load tools that send in the slices of their server alone, and are stopped in between."""

import os
import select
import signal
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from benchforge.errors import LaunchLost, OutputDamaged, TrialFailed
from benchforge.parts.command import Finished
from benchforge.parts.part import Driver
from benchforge.run.sandbox.sandbox import Running, Sandbox, complaint
from benchforge.run.trial.turns.freeze import stopped
from benchforge.run.watch.files import content
from benchforge.text.readable import exact

GO, DONE = "go", "done"
"The pipes to the load tool and from it."
_LOOK_EVERY_MS = 250
_SLOWEST_S = 45.0  # beyond any time-out of a request

OPENED = "TcpActiveOpens"
"The counter of the connections that were opened in the trial's network."
_CONNECTED_WITHIN_S = 2.0
_LOOK_EVERY_S, _AGAIN_S = 0.001, 1.0
_OFF = 'set interleave = "off" in this scenario, or use pace'


class SliceCounts(NamedTuple):
    """What the load tool tells of a slice; times in seconds of the monotonic clock."""

    begin_s: float
    end_s: float
    sent: int | None
    responses: int
    "An estimate where the bytes are counted."
    failed: int | None
    received_bytes: int | None = None


class PipedTool:
    """A load tool that a pipe tells when to send, and that is stopped between its slices.

    It is started once the pipes are in `folder`.
    """

    loader: Running

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self._sandbox = sandbox
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

    def _answered(self, line: str) -> str:
        """Send a line; return the load tool's next one. Raises TrialFailed where none comes."""
        self._say(line)
        loader, deadline = self.loader, time.monotonic() + _SLOWEST_S
        while b"\n" not in self._received:
            if select.select([self._done], [], [], _LOOK_EVERY_MS / 1000)[0]:
                self._received += os.read(self._done, 4096)
            elif (end := self._sandbox.finished(loader)) is not None:
                message = f"{loader.label}: it ended with exit code {end.code} in its turn"
                raise TrialFailed("drive", message, log=complaint(loader))
            elif time.monotonic() > deadline:
                message = f"{loader.label}: no answer to a slice within {exact(_SLOWEST_S)} s"
                raise LaunchLost("drive", message, log=complaint(loader))
        answer, _, self._received = self._received.partition(b"\n")
        return answer.decode(errors="replace")

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

    def _say(self, line: str) -> None:
        os.write(self._go, f"{line}\n".encode())
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


class FrozenTool:
    """A closed loop, wherever it is: its responses are counted by the bytes that it reads."""

    def __init__(
        self, sandbox: Sandbox, loader: Running, driver: Driver, opened: int, response_bytes: int
    ) -> None:
        """Wait until a tool has connected that was just started; `opened` were there before.

        What it reads until it opens the first connection are files, and no responses.
        """
        self.loader, self._sandbox = loader, sandbox
        self.uncounted_bytes = 0
        self._interrupted_by = driver.interrupted_by or signal.SIGINT
        self._response_bytes = max(1, response_bytes)
        self._at_first = self._last = 0
        connections = driver.load().connections or 1
        deadline = time.monotonic() + _CONNECTED_WITHIN_S
        while True:
            self._check_runs()
            # Before the counter: while that is 0, all of it is of files.
            so_far = self._read(sandbox.processes(loader))
            connections_ = sandbox.counters().get(OPENED, 0) - opened
            if connections_ == 0:
                self._at_first = so_far
            elif connections_ >= connections or time.monotonic() > deadline:
                break
            time.sleep(_LOOK_EVERY_S)

    def sent(self, length_s: float) -> SliceCounts:
        """Let it send for so long; the server is to be frozen right after."""
        self._sandbox.signal(self.loader, signal.SIGCONT)
        begin_s = time.monotonic()
        time.sleep(length_s)
        return SliceCounts(begin_s, time.monotonic(), None, 0, None)

    def rested(self, counts: SliceCounts) -> SliceCounts:
        """Stop it, and return the counts with the bytes that it read since it was stopped last."""
        earlier, self._last = self._last, self._read(self._stop())
        grown = self._last - earlier
        return counts._replace(received_bytes=grown, responses=grown // self._response_bytes)

    def anew(self) -> None:
        """Stop it, where it is not yet, and count from now on."""
        self._last = self._read(self._stop())
        self.uncounted_bytes = self._last - self._at_first

    def ask_to_end(self) -> None:
        """Let it go on and send its signal, while its server is frozen: no response comes."""
        self._sandbox.signal(self.loader, signal.SIGCONT)
        self._sandbox.signal(self.loader, self._interrupted_by)

    def end(self, within_s: float) -> Finished:
        """Return how it ended, once it was asked to. Raises LaunchLost where it does not."""
        deadline, pause_s = time.monotonic() + within_s, min(_AGAIN_S, within_s)
        while time.monotonic() < deadline:
            if (end := self._sandbox.wait(self.loader, pause_s)) is not None:
                return end
            # Any thread may have got the signal: only the main one wakes.
            self._sandbox.signal(self.loader, self._interrupted_by)
        self._sandbox.stop(self.loader)
        message = f"{self.loader.label} did not end within {within_s:g} s after its last slice"
        raise LaunchLost("drive", message, log=complaint(self.loader))

    def _stop(self) -> Collection[int]:
        pids = stopped(self._sandbox, self.loader)
        self._check_runs()
        return pids

    def _check_runs(self) -> None:
        if (end := self._sandbox.finished(self.loader)) is not None:
            message = (
                f"{self.loader.label}: it ended with exit code {end.code} before its last turn"
            )
            raise TrialFailed("drive", message, log=complaint(self.loader))

    def _read(self, pids: Iterable[int]) -> int:
        """Return how many bytes its processes have read so far, by the kernel."""
        counts = [content(f"/proc/{pid}/io") for pid in pids]
        if None in counts:
            message = f"{self.loader.label}: the kernel hides how much it reads"
            raise TrialFailed("drive", message, _OFF)
        return sum(int(count.split()[1]) for count in counts if count is not None)
