"""What the windows of a load take of its throughput: with them over without, in pairs.

    .venv/bin/python benchmarks/windows.py [PAIRS]

wrk with 16 connections, loads of 2 s, against three servers: asyncio whose answers take 16 ms
(about 1,000 requests/s), asyncio as fast as it is (about 20,000), and nginx (about 100,000). No
run has a monitor; which one of a pair is first changes from pair to pair. It prints the
geometric mean of the ratios with its 95 % interval, for each server and for all pairs.
"""

import asyncio
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from benchforge.stats.inference.ratio import ratio
from benchforge.text.readable import exact, times

SERVE = "serve"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
SLOW_S = 0.016
WITHOUT = """
from benchforge.run.http.wire.capture import LoadWindows
LoadWindows.__post_init__ = lambda windows: setattr(windows, "why", "left out")
"""
RUN = "import sys; from benchforge.__main__ import main; sys.exit(main())"
SUITE = """benchforge = 1
smoke = true
[loaders.wrk]
use = "wrk"
connections = 16
duration = "2s"
[scenarios.asked]
request = {{ path = "/" }}
servers = ["it"]
loaders = ["wrk"]
monitor = "off"
[repeat]
blocks = 1
quiet = "off"
[servers.it]
{server}
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


async def serve(port: int, takes_s: float) -> None:
    """Serve until somebody ends it."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Answers(takes_s), "127.0.0.1", port)
    await server.serve_forever()


def rate(folder: Path, server: str, *, windows: bool) -> float:
    """Return the requests/s of one load. Raises SystemExit where it has no measurement."""
    (folder / "suite.toml").write_text(SUITE.format(server=server))
    with tempfile.TemporaryDirectory(dir=folder) as results:
        code = RUN if windows else WITHOUT + RUN
        words = [sys.executable, "-c", code, "run", "suite.toml", "-o", results]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        trials = [json.loads(file.read_text()) for file in Path(results).glob("*/trials/*/t*.json")]
    for trial in trials:
        opened = trial["load_answers"]["load"]["windows"] if trial["reading"] else None
        if opened is not None and bool(opened) == windows:
            return float(trial["reading"]["responses"] / trial["reading"]["seconds"])
    sys.exit(f"no measurement:\n{done.stdout}{done.stderr}")


def main(pairs: int) -> None:
    """Measure all pairs, and print a line for each server."""
    own = [sys.executable, str(Path(__file__).resolve()), SERVE, "{port}"]
    words = [(takes_s, json.dumps([*own, str(takes_s)])) for takes_s in (SLOW_S, 0.0)]
    servers = {
        f"asyncio, {exact(takes_s)} s": f'use = "command"\ncommand = {argv}'
        for takes_s, argv in words
    }
    servers["nginx"] = 'use = "nginx"'
    every: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        for label, server in servers.items():
            ratios, rates = [], []
            for pair in range(pairs):
                order = (True, False) if pair % 2 else (False, True)
                pair_rates = {one: rate(Path(name), server, windows=one) for one in order}
                ratios.append(pair_rates[True] / pair_rates[False])
                rates.append(math.log(pair_rates[False]))
            usual = round(math.exp(sum(rates) / pairs))
            print(f"{label}, {exact(usual)} requests/s: {in_words(ratios)}", flush=True)
            every += ratios
    print(f"all: {in_words(every)}")


def in_words(ratios: list[float]) -> str:
    """Return the mean of ratios with its interval."""
    estimate = ratio(ratios, [1.0] * len(ratios))
    says = f"{times(estimate.value or math.nan)} with windows over without"
    if estimate.low is None or estimate.high is None:
        return f"{says}, {estimate.why}"
    return f"{says} ({times(estimate.low)} to {times(estimate.high)}, 95 %), {len(ratios)} pairs"


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        asyncio.run(serve(int(sys.argv[2]), float(sys.argv[3])))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 20)
