"""What the stream of a mix costs: one constant request, plain and from a stream, in turns.

    .venv/bin/python benchmarks/stream.py [LAUNCHES] [SECONDS]

One server of waitress is the limit. In each launch three load tools of a kind take turns at it in
slices of 100 ms, SECONDS each (default 4): `plain` sends the request that it was given, `same` too,
and `stream` reads it from 10,000 rendered records. While one sends, the others stand still; between
two slices the server does so too. The kinds are wrk, frozen like any closed loop, and pace, which
stops by itself. The server has one CPU, and the tools the last one: on its server's CPU a tool is a
quarter slower. Default: 20 launches of each.

Printed are the ratios of `stream` and of `same` to `plain` with their 95 % intervals: of the
throughput, and of the CPU time of the load tool for a response. The unit is the launch, of which
three are needed. `same` shows what the method itself makes of equal tools.

Nothing is asserted: on another machine the numbers are others.
"""

import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from benchforge.run.locate import libraries, locate
from benchforge.stats.inference.ratio import ratio
from benchforge.stats.turns.order import order

MEMBERS: Final = ("plain", "same", "stream")
SLICE_S: Final = 0.1
RECORDS: Final = 10_000
CONNECTIONS: Final = 8
SECOND: Final = 1e9
LONGEST_S: Final = 600
LOADERS: Final = Path(__file__).resolve().parents[1] / "plugins/loaders/benchforge_loaders"
APP: Final = """
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
"""


class Tool(ABC):
    """A load tool that sends in slices, and what it did in them."""

    def __init__(self, words: Sequence[str], environment: dict[str, str], server: int) -> None:
        """Start it. `server` is the process of the server, which is stopped between slices."""
        self.forget()
        self.server = server
        self.process = subprocess.Popen(
            words, env=os.environ | environment, stdout=subprocess.DEVNULL
        )

    def forget(self) -> None:
        """Count from now on."""
        self.seconds, self.responses, self.cpu_s = 0.0, 0.0, 0.0

    def slice(self) -> None:
        """Send for a slice, and count."""
        cpu_s = self._cpu_s()
        responses, seconds = self._sent()
        self.cpu_s += self._cpu_s() - cpu_s
        self.responses += responses
        self.seconds += seconds

    def end(self) -> None:
        """End it by its process id."""
        self.process.kill()
        self.process.wait()

    @abstractmethod
    def _sent(self) -> tuple[float, float]:
        """Send for a slice; return the responses, or what grows with them, and the seconds."""

    def _cpu_s(self) -> float:
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / SECOND


class Wrk(Tool):
    """wrk, frozen with the server: its responses are the bytes that it read, all of one size."""

    def __init__(self, member: str, folder: Path, root: str, server: int) -> None:
        """Start it, and stop it once it has connected."""
        script = "stream.lua" if member == "stream" else "wrk.lua"
        environment = {
            "BENCHFORGE_WRK_OUT": str(folder / f"{member}.out"),
            "BENCHFORGE_WRK_HOOK": str(LOADERS / "wrk/wrk.lua"),
            "BENCHFORGE_WRK_HEAD": str(folder / "head"),
            "BENCHFORGE_WRK_STREAM": str(folder / "stream"),
            "BENCHFORGE_WRK_INDEX": str(folder / "stream.index"),
            "BENCHFORGE_WRK_THREADS": "1",
            "BENCHFORGE_WRK_TAKEN": str(folder / f"{member}.taken"),
        }
        size = ("-t1", f"-c{CONNECTIONS}", f"-d{LONGEST_S}s", "--timeout", f"{LONGEST_S}s")
        hook = ("-s", str(LOADERS / "wrk" / script), root)
        wrk = _program("wrk")
        super().__init__([str(wrk), *size, *hook], environment | libraries(wrk), server)
        time.sleep(0.5)
        self._stop()

    def _sent(self) -> tuple[float, float]:
        before = self._read()
        self.process.send_signal(signal.SIGCONT)
        os.kill(self.server, signal.SIGCONT)
        begin = time.monotonic()
        time.sleep(SLICE_S)
        end = time.monotonic()
        self._stop()
        return self._read() - before, end - begin

    def _stop(self) -> None:
        for pid in (self.server, self.process.pid):
            os.kill(pid, signal.SIGSTOP)
            while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
                time.sleep(0.0005)

    def _read(self) -> float:
        return float(Path(f"/proc/{self.process.pid}/io").read_text().split()[1])


class Pace(Tool):
    """pace, which stops by itself, and tells how many responses each slice had."""

    def __init__(self, member: str, folder: Path, root: str, server: int) -> None:
        """Start it; it waits for its first slice."""
        pipes = folder / f"{member}.pipes"
        pipes.mkdir(exist_ok=True)
        for name in ("go", "done"):
            (pipes / name).unlink(missing_ok=True)
            os.mkfifo(pipes / name)
        sends = ["--head", str(folder / "head")]
        if member == "stream":
            sends = ["--stream", str(folder / "stream"), "--kinds", "1"]
        program = (sys.executable, str(LOADERS / "drivers/pace_main.py"))
        size = ("--connections", str(CONNECTIONS), "--duration", str(LONGEST_S))
        super().__init__([*program, *size, "--turns", str(pipes), *sends, root], {}, server)
        self.go, self.done = (pipes / "go").open("w"), (pipes / "done").open()

    def end(self) -> None:
        """Close its pipes too."""
        super().end()
        self.go.close()
        self.done.close()

    def _sent(self) -> tuple[float, float]:
        print(f"slice {round(SLICE_S * SECOND)}", file=self.go, flush=True)
        begin, end, _, responses, failed = map(int, self.done.readline().split())
        if failed:
            sys.exit(f"pace: {failed} requests failed")
        return responses, (end - begin) / SECOND


Start = Callable[[str, Path, str, int], Tool]


def launch(
    kind: Start, seconds: float, seed: int, folder: Path, cpus: Sequence[int]
) -> dict[str, Tool]:
    """Start the server and the three tools, let them take turns, and return what each did."""
    with _served(folder, cpus) as (root, server):
        tools = {member: kind(member, folder, root, server) for member in MEMBERS}
        try:
            rounds = 2 * round(seconds / SLICE_S / 2)
            for number, places in enumerate(order(seed, len(MEMBERS), rounds + 2)):
                for place in places:
                    tools[MEMBERS[place]].slice()
                if number == 1:  # the first pair of rounds is the warm-up
                    for tool in tools.values():
                        tool.forget()
        finally:
            for tool in tools.values():
                tool.end()
            os.kill(server, signal.SIGCONT)
    return tools


def main(launches: int = 20, seconds: float = 4) -> None:
    """Measure the kinds in turns, and print the ratios."""
    kinds: dict[str, Start] = {"wrk": Wrk, "pace": Pace}
    seen: dict[str, list[dict[str, Tool]]] = {label: [] for label in kinds}
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cpus[-1:])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_requests(folder)
        for number in range(launches):
            for label, kind in kinds.items():
                seen[label].append(launch(kind, seconds, number, folder, cpus[:1]))
            print(f"{number + 1} of {launches} launches", file=sys.stderr)
    for label, each in seen.items():
        for member in MEMBERS[:0:-1]:
            rates = _to_plain(each, member, lambda tool: tool.responses / tool.seconds)
            costs = _to_plain(each, member, lambda tool: tool.cpu_s / tool.responses)
            print(f"{label:5} {member:7} throughput {rates}   CPU time of the load tool {costs}")


def _to_plain(
    launches: Sequence[dict[str, Tool]], member: str, figure: Callable[[Tool], float]
) -> str:
    """Return the ratio of a member's figure to that of `plain`, with its interval."""
    ours, theirs = ([figure(tools[one]) for tools in launches] for one in (member, "plain"))
    estimate = ratio(ours, theirs)
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"


def _write_requests(folder: Path) -> None:
    (folder / "served.py").write_text(APP)
    (folder / "head").write_text("GET /\nHost: benchmark\n")
    record = b"GET / HTTP/1.1\r\nHost: benchmark\r\n\r\n"
    (folder / "stream").write_bytes(record * RECORDS)
    places = (n * len(record) for n in range(RECORDS))
    index = b"".join(struct.pack("<QIHH", place, len(record), 0, 0) for place in places)
    (folder / "stream.index").write_bytes(index)


@contextmanager
def _served(folder: Path, cpus: Sequence[int]) -> Iterator[tuple[str, int]]:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "waitress", "--threads=1", f"--listen=127.0.0.1:{port}"]
    server = subprocess.Popen(
        [*words, "served:app"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.sched_setaffinity(server.pid, cpus)
    try:
        for _ in range(100):
            time.sleep(0.1)
            with closing(socket.socket()) as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.kill()
        server.wait()


def _program(name: str) -> Path:
    if (path := locate(name)) is None:
        sys.exit(f"{name} is missing: install it")
    return path


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
