"""What the windows of a load take of its throughput: with them over without, in slices of one load.

    .venv/bin/python benchmarks/windows.py [PAIRS [SLICE_S]]

wrk with 16 connections against three servers: asyncio whose answers take 16 ms (about 1,000
requests/s), asyncio as fast as it is (about 20,000), and nginx (about 100,000). One load of each is
cut into pairs of slices of half a second, in one of which windows open as they do in the measured
load of a trial of 2 s; which one is first is drawn. Slices are some 10 ms apart, in which the
kernel closes sockets. Segments that the trial's network received count as its throughput. For each
server it prints the geometric mean of the ratios with its 95 % interval, and the same of the pairs'
halves in their order, which windows do not differ in: that interval has to contain 1.
"""

import asyncio
import contextlib
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
SLOW_S, TRIAL_S, APART_S, WARM_S = 0.016, 2.0, 0.03, 1.0
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
            self._answer()

    def _answer(self) -> None:
        assert isinstance(self._transport, asyncio.WriteTransport)  # noqa: S101 - of a connection
        self._transport.write(ANSWER)


async def serve(takes_s: float) -> None:
    """Serve until somebody ends it."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Answers(takes_s), "127.0.0.1", PORT)
    await server.serve_forever()


def segments_per_s(sandbox: Sandbox, windows: LoadWindows | None, slice_s: float) -> float:
    """Return the rate of a slice, with windows or without."""
    opened: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    if windows is not None:
        count = max(1, round(12 * slice_s / TRIAL_S))
        moments = spread(random.Random(), count, slice_s)  # noqa: S311
        opened = windows.during("load", moments, window_s(TRIAL_S))
    with opened:
        begun_s, before = time.monotonic(), sandbox.counters()["TcpInSegs"]
        time.sleep(slice_s)
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


def pairs_of(server: Command, pairs: int, slice_s: float) -> tuple[list[float], list[float], float]:
    """Return with windows over without, second slices over first, and the requests/s without."""
    lasts_s = pairs * 2 * (slice_s + APART_S) * 1.5 + 60
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
            pair = [segments_per_s(sandbox, one, slice_s) for one in order]
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


def main(pairs: int, slice_s: float) -> None:
    """Measure all pairs, and print two lines for each server."""
    own = (sys.executable, Path(__file__).resolve(), SERVE)
    servers = {
        f"asyncio, {exact(SLOW_S)} s": Command(*own, SLOW_S),
        "asyncio": Command(*own, 0.0),
        "nginx": Command(locate("nginx") or "nginx", "-c", "nginx.conf", "-p", "."),
    }
    for label, server in servers.items():
        ratios, halves, rate = pairs_of(server, pairs, slice_s)
        print(f"{label}, about {rate:,.0f} requests/s:")
        print(f"    {in_words(ratios, 'with windows over without')}")
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
        main(int(sys.argv[1]) if sys.argv[1:] else 120, float((*sys.argv[2:], "0.5")[0]))
