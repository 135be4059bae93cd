"""What a window of a load takes of its throughput: with windows over without, in slices of a load.

    .venv/bin/python benchmarks/windows.py [PAIRS [WINDOWS_PER_S]]

wrk with 16 connections against three servers: asyncio whose answers take 16 ms (about 1,000
requests/s), asyncio that computes 40 us for each (about 20,000), and nginx (about 100,000). One
load of each is cut into pairs of slices of 0.1 s. Windows open in one of them, which is drawn; they
are as long as those of a trial of 2 s, but 100 in a second, since the loss of a window is far below
what a slice varies by. Sockets are made and closed outside of the slices, as they are outside of a
load. Segments that the trial's network received count as its throughput.

For each server it prints the geometric mean of the ratios with its 95 % interval; how much of the
load a window takes by it; what 12 such in 2 s and 7 in 1 s, as trials have them, do to a load; and
the ratios of the pairs' halves in their order, whose interval has to contain 1.
"""

import asyncio
import contextlib
import math
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchforge.parts.command import Command
from benchforge.run.http.wire.capture import LoadWindows
from benchforge.run.locate import locate
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.run.trial.stages.windows import spread, window_s
from benchforge.stats.inference.hodges_lehmann import ratio
from benchforge.text.readable import exact, times

SERVE, PORT = "serve", 8000
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
SLOW_S, BUSY_S, TRIAL_S, SLICE_S, APART_S, WARM_S = 0.016, 4e-5, 2.0, 0.1, 0.03, 1.0
IN_LOADS = ((12, TRIAL_S), (7, 1.0))
PARTS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
NGINX = f"""daemon off;
pid nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    {" ".join(f"{part}_temp_path {part};" for part in PARTS)}
    keepalive_requests 1000000000;
    server {{
        listen 127.0.0.1:{PORT};
        location / {{ return 200 "hello"; }}
    }}
}}
"""


class Answers(asyncio.Protocol):
    """Answer each request, as wrk sends them: one at a time, in one piece."""

    def __init__(self, takes_s: float) -> None:
        self._takes_s = takes_s

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer."""
        del data
        if self._takes_s:
            asyncio.get_running_loop().call_later(self._takes_s, self._answer)
        else:
            until_s = time.perf_counter() + BUSY_S
            while time.perf_counter() < until_s:
                pass
            self._answer()

    def _answer(self) -> None:
        assert isinstance(self._transport, asyncio.WriteTransport)  # noqa: S101 - of a connection
        self._transport.write(ANSWER)


async def serve(takes_s: float) -> None:
    """Serve until somebody ends it."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Answers(takes_s), "127.0.0.1", PORT)
    await server.serve_forever()


def segments_per_s(sandbox: Sandbox, windows: LoadWindows | None, count: int) -> float:
    """Return the rate of a slice, with this many windows or without."""
    opened: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if windows is not None:
        moments = [APART_S + moment_s for moment_s in spread(random.Random(), count, SLICE_S)]  # noqa: S311
        opened = windows.during("load", moments, window_s(TRIAL_S))
    with opened:
        time.sleep(APART_S)
        begun_s, before = time.monotonic(), sandbox.counters()["TcpInSegs"]
        time.sleep(SLICE_S)
        grown = sandbox.counters()["TcpInSegs"] - before
        rate = grown / (time.monotonic() - begun_s)
    time.sleep(APART_S)
    return rate


def wait_for(sandbox: Sandbox) -> None:
    """Wait until the server listens. Raises OSError where it does not within a minute."""
    deadline = time.monotonic() + 60
    while True:
        with sandbox.socket() as trying:
            try:
                return trying.connect(("127.0.0.1", PORT))
            except OSError:
                if time.monotonic() > deadline:
                    raise
        time.sleep(0.05)


def pairs_of(server: Command, pairs: int, count: int) -> tuple[list[float], list[float], float]:
    """Return with windows over without, second slices over first, and the requests/s without."""
    lasts_s = pairs * 2 * (SLICE_S + 2 * APART_S) * 1.5 + 60
    words = (f"-d{lasts_s:.0f}s", "-t1", "-c16", f"http://127.0.0.1:{PORT}/")
    ratios, halves, rates, packets = [], [], [], 0
    with tempfile.TemporaryDirectory() as name, LocalHost().trial(Path(name)) as sandbox:
        (Path(name) / "nginx.conf").write_text(NGINX)
        (Path(name) / "logs").mkdir()
        sandbox.start("server", server, Path(name), {})
        wait_for(sandbox)
        load = sandbox.start("wrk", Command(locate("wrk") or "wrk", *words), Path(name), {})
        time.sleep(WARM_S)
        for _ in range(pairs):
            windows = LoadWindows(sandbox, PORT)
            if windows.why:
                sys.exit(f"no windows: {windows.why}")
            order = random.sample([windows, None], 2)
            pair = [segments_per_s(sandbox, each, count) for each in order]
            packets += sum(len(window.packets) for window in windows.end())
            if sandbox.finished(load):
                sys.exit(f"no load: {load.stderr.read_text()}{load.stdout.read_text()}")
            without = pair[order.index(None)]
            ratios.append(pair[order.index(windows)] / without)
            halves.append(pair[1] / pair[0])
            rates.append(without)
    if not packets:
        sys.exit("no window saw a packet")
    return ratios, halves, statistics.median(rates) / 2  # a request and its answer


def main(pairs: int, windows_per_s: float) -> None:
    """Measure all pairs, and print six lines for each server."""
    own = (sys.executable, Path(__file__).resolve(), SERVE)
    servers = {
        f"asyncio, {exact(SLOW_S)} s": Command(*own, SLOW_S),
        f"asyncio, {exact(BUSY_S)} s of CPU": Command(*own, 0.0),
        "nginx": Command(locate("nginx") or "nginx", "-c", "nginx.conf", "-p", "."),
    }
    count = max(1, round(windows_per_s * SLICE_S))
    for label, server in servers.items():
        ratios, halves, rate = pairs_of(server, pairs, count)
        print(f"{label}, about {rate:,.0f} requests/s:")
        print(f"    {in_words(ratios, f'with {count} windows in {SLICE_S:g} s over without')}")
        mean = ratio(ratios, [1.0] * len(ratios))
        losses_s = [
            (1 - (each or math.nan)) * SLICE_S / count for each in (mean.value, mean.low, mean.high)
        ]
        each, most, least = (f"{1000 * loss_s:.2f}" for loss_s in losses_s)
        print(f"    a window takes {each} ms of the load ({least} to {most}, 95 %)")
        for in_load, length_s in IN_LOADS:
            value, low, high = (1 - in_load * loss_s / length_s for loss_s in losses_s)
            print(f"    {in_load} in {length_s:g} s: {value:.4f} ({low:.4f} to {high:.4f})")
        print(f"    {in_words(halves, 'second slices over first')}", flush=True)


def in_words(ratios: list[float], what: str) -> str:
    """Return the mean of ratios with its interval."""
    estimate = ratio(ratios, [1.0] * len(ratios))
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return f"{what}: {estimate.why}"
    low, high = times(estimate.low), times(estimate.high)
    return f"{times(estimate.value)} {what} ({low} to {high}, 95 %), {len(ratios)} pairs"


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        asyncio.run(serve(float(sys.argv[2])))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 300, float((*sys.argv[2:], "100")[0]))
