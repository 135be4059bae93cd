"""A host that starts nothing: it notes what would be started, and gives what was recorded."""

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from benchforge.checks.ask import of_trial
from benchforge.checks.limits import limits
from benchforge.cli.plugins.examination import inputs
from benchforge.cli.plugins.examination.inputs import ERR, FACTS, OUT, Recording
from benchforge.errors import Unusable
from benchforge.model.trial.trial import Trial
from benchforge.parts.command import Command, Finished
from benchforge.parts.registry import Registry
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.run.execute import Progress, RunInputs, execute
from benchforge.run.sandbox.channel import Exit
from benchforge.run.sandbox.host import NO_WISHES, Mode, Network, Running, Sandbox, Wishes
from benchforge.run.trial.context import TrialContext
from benchforge.stats.search.objective import judged
from benchforge.suite.cases.expand import expand
from benchforge.suite.cases.parts import distinct_parts
from benchforge.suite.load import load
from benchforge.suite.plan import plan
from benchforge.suite.scenarios.search import finds_of

_DRIVERS = ("loader-", "client-", "warm-up")


@dataclass(frozen=True)
class RecordedStart:
    """What would have been started."""

    label: str
    command: Command
    folder: Path


class FakeHost:
    """Answers every question over HTTP with `body`, and ends every load with a recording.

    A body is some kilobytes at most. `outputs` holds, by the labels of loaders and clients, a
    recording's file or folder. A label without one prints nothing. Over https nothing is answered.
    """

    def __init__(self, body: bytes = b"Hello, World!\n", outputs: Mapping[str, Path] = {}) -> None:
        self.body = body
        self.outputs = {label: Recording.of(folder_) for label, folder_ in outputs.items()}
        self.started: list[RecordedStart] = []

    @contextlib.contextmanager
    def trial(
        self, folder: Path, network: Network = "private", wishes: Wishes = NO_WISHES
    ) -> Iterator[Sandbox]:
        """Give a place where nothing starts."""
        folder.mkdir(parents=True, exist_ok=True)
        sandbox = _FakeHere(self, network)
        try:
            yield sandbox
        finally:
            sandbox.end()

    def many(self) -> contextlib.AbstractContextManager[None]:
        """Expect many trials: there is nothing to do for them."""
        return contextlib.nullcontext()

    def run(self, suite: Path, registry: Registry | None = None) -> list[Trial]:
        """Measure a suite without a process. Raises what `benchforge run` tells as an error.

        Its results lie in results/ beside the suite. Runtimes cannot be built here.
        """
        loaded = load(suite, registry or Registry())
        if loaded.runtimes:
            raise Unusable(f"{suite}: [runtimes] need processes", "leave them to a real run")
        needs = [need for part in distinct_parts(loaded) for need in part.needs()]
        context = TrialContext(
            host=self,
            programs=inputs.programs(needs),
            python=Path(sys.executable),
            suite_folder=suite.parent.resolve(),
            network="private",
            secrets=loaded.secrets,
            as_root=os.geteuid() == 0,
        )
        writer = ResultWriter.new(suite.parent / "results", loaded.name, datetime.now(UTC))
        graph = plan(expand(loaded), loaded.repeat, seed=loaded.repeat.seed or 0)
        believe = partial(of_trial, limits=limits())
        finds, metrics = finds_of(loaded), loaded.metrics
        judge = partial(judged, finds=finds, metrics=metrics, smoke=loaded.smoke)
        return list(execute(RunInputs(graph, context, writer, believe, judge), Progress()))


class _FakeHere(Sandbox):
    """A place without a keeper: services run until they are stopped, all else has ended."""

    def __init__(self, host: FakeHost, network: Network) -> None:
        self.mode = Mode(True, network, "private", ("nothing was started: a fake host",))
        self.init_pid = 0
        self.left = 0
        self._host = host
        self._ends: dict[int, Finished] = {}
        self._open: list[socket.socket] = []
        self._next_port = 20_000
        self._next_pid = 0

    def start(
        self,
        label: str,
        command: Command,
        folder: Path,
        environment: Mapping[str, str],
        cpus: Iterable[int] | None = None,
    ) -> Running:
        self._host.started.append(RecordedStart(label, command, folder))
        self._next_pid += 1
        stdout, stderr = folder / f"{label}.out", folder / f"{label}.err"
        running = Running(label, self._next_pid, self._next_pid, stdout, stderr, 0.0, command)
        loads = label.startswith(_DRIVERS)
        recording = self._host.outputs.get(label.partition("-")[2]) if loads else None
        contents = recording.files if recording else {OUT: b""}
        stdout.write_bytes(contents[OUT])
        stderr.write_bytes(contents.get(ERR, b""))
        for name in contents.keys() - {OUT, ERR, FACTS}:
            (folder / name).write_bytes(contents[name])
        if loads:
            self._end(running, recording.exit_code if recording else 0)
        return running

    def run(
        self,
        label: str,
        command: Command,
        folder: Path,
        environment: Mapping[str, str],
        timeout_s: float,
    ) -> Finished:
        return self._end(self.start(label, command, folder, environment), 0)

    def cut(self, running: Running) -> tuple[Literal["stdout", "stderr"], ...]:
        return ()

    def wait(
        self,
        running: Running,
        timeout_s: float,
        *,
        every_s: float | None = None,
        on_tick: Callable[[], object] = lambda: None,
    ) -> Finished | None:
        return self.finished(running)

    def finished(self, running: Running) -> Finished | None:
        return self._ends.get(running.pid)

    def exit(self, running: Running) -> Exit | None:
        return None  # nothing ran, so nothing was used

    def stop(self, running: Running, within_s: float = 5.0, first: object = None) -> Finished:
        return self.finished(running) or self._end(running, 0)

    def processes(self, running: Running) -> list[int]:
        return []

    def executable(self, running: Running) -> str | None:
        return None

    def owns(self, running: Running, port: int) -> bool | None:
        return True

    def counters(self) -> dict[str, int]:
        return {}

    def socket(
        self,
        family: socket.AddressFamily = socket.AF_INET,
        kind: socket.SocketKind = socket.SOCK_STREAM,
        protocol: int = 0,
        count: int = 1,
    ) -> socket.socket:
        if family not in {socket.AF_INET, socket.AF_INET6}:
            raise PermissionError("a fake host has no packets")
        local_end, theirs = socket.socketpair()
        self._open.append(theirs)
        content_type, length = "Content-Type: text/plain", f"Content-Length: {len(self._host.body)}"
        theirs.sendall(f"HTTP/1.1 200 OK\r\n{content_type}\r\n{length}\r\n\r\n".encode())
        theirs.sendall(self._host.body)
        theirs.shutdown(socket.SHUT_WR)
        return _Answered(fileno=local_end.detach())

    def end(self) -> None:
        """Close what was answered."""
        for connection in self._open:
            connection.close()

    def free_port(self) -> int:
        self._next_port += 1
        return self._next_port

    def _end(self, running: Running, code: int) -> Finished:
        done = Finished(code, running.stdout, running.stderr, 1.0, 0.0, 0.0)
        self._ends[running.pid] = done
        return done


class _Answered(socket.socket):
    """A socket that is connected already, and whose answer is there before it is asked for."""

    def connect(self, address: object) -> None:
        pass
