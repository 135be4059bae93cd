"""How soon each tool says which of two servers is faster, and how well its answers agree.

    .venv/bin/python benchmarks/peers.py [REPETITIONS] [--only NAME]

waitress and gunicorn serve one hello.py on loopback, each with a connection for each request. In
each repetition (3) every way answers once, one after the other in one session: `benchforge duel`
without latency; wrk, oha and k6 by hand, with 16 connections, three loads of 5 s for each server,
alternately; and hyperfine, which runs ab with 20,000 requests for each server five times. A tool
that is not on PATH or among the project's programs is named and left out.

Printed are, for each way, the median time to its answer, the ratios of all repetitions, their
median interval where the way has one (95 %; of the pairs of loads by Student's t, of hyperfine two
standard deviations), and by how much the repetitions differ: the largest ratio over the smallest.
On a shared machine only the columns beside each other mean something.
"""

import argparse
import contextlib
import json
import math
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchforge.run.locate import libraries, locate
from benchforge.stats.distributions import t_quantile

CONNECTIONS, LOADS, SECONDS, REQUESTS = 16, 3, 5, 20_000
APP = """def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""
SERVERS = ("waitress-serve --port={port} hello:app", "gunicorn -b :{port} hello:app")
RATE = re.compile(r"(?:Requests/sec:|http_reqs\.*:\s*\d+)\s+([\d.]+)")
SCRIPT = """import http from 'k6/http';
export const options = {noConnectionReuse: true, vus: %d, duration: '%ds'};
export default () => { http.get(__ENV.URL); };
"""


class Answer(NamedTuple):
    """The first server's rate over the second's."""

    seconds: float
    ratio: float
    low: float | None = None
    high: float | None = None


def main() -> None:
    """Ask every way in turn, and print what they answered."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("repetitions", nargs="?", type=int, default=3)
    parser.add_argument("--only", help="name of one way")
    words = parser.parse_args()
    answers: dict[str, list[Answer]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "hello.py").write_text(APP)
        (folder / "load.js").write_text(SCRIPT % (CONNECTIONS, SECONDS))
        for _ in range(words.repetitions):
            for way, answered in ways().items():
                if words.only in {None, way}:
                    answers.setdefault(way, []).append(answered(folder))
                    print(f"{way}: {answers[way][-1]}", file=sys.stderr, flush=True)
    print("| way | s to its answer | ratios | interval, median | largest over smallest |")
    print("|---|---|---|---|---|")
    for way, each in answers.items():
        print(row(way, each))


def row(way: str, answers: Sequence[Answer]) -> str:
    """Return a row of the table."""
    ratios = [answer.ratio for answer in answers]
    ends = [(answer.low, answer.high) for answer in answers if answer.low and answer.high]
    middle = [statistics.median(end) for end in zip(*ends, strict=True)]
    interval = f"{middle[0]:.3f} to {middle[1]:.3f}" if middle else "none"
    seconds = statistics.median(answer.seconds for answer in answers)
    listed = ", ".join(f"{ratio:.3f}" for ratio in ratios)
    return f"| {way} | {seconds:.0f} | {listed} | {interval} | {max(ratios) / min(ratios):.3f} |"


def ways() -> dict[str, Callable[[Path], Answer]]:
    """Return the ways whose program is here, by name."""
    url = f"-c{CONNECTIONS}", "-HConnection: close"
    loads: dict[str, Callable[[str], list[str]]] = {
        "wrk": lambda at: [*program("wrk"), "-t1", *url, f"-d{SECONDS}s", at],
        "oha": lambda at: [
            *program("oha"),
            *("--no-tui", "--disable-keepalive", f"-c{CONNECTIONS}", f"-z{SECONDS}s", at),
        ],
        "k6": lambda at: [*program("k6"), "run", "-e", f"URL={at}", "load.js"],
    }
    answers: dict[str, Callable[[Path], Answer]] = {"benchforge duel": by_duel}
    answers |= {
        f"{tool} by hand": lambda folder, load=load: by_hand(folder, load)  # type: ignore[misc]
        for tool, load in loads.items()
        if locate(tool)
    }
    if locate("hyperfine") and locate("ab"):
        answers["hyperfine of ab"] = by_hyperfine
    missing = [tool for tool in (*loads, "hyperfine", "ab") if not locate(tool)]
    if missing:
        print(f"not here: {', '.join(missing)}", file=sys.stderr)
    return answers


def by_duel(folder: Path) -> Answer:
    """Return what `benchforge duel` answers."""
    program = Path(sys.executable).with_name("benchforge")
    words = [str(program), "duel", "--no-latency", "-o", f"results-{time.time_ns()}", *SERVERS]
    began = time.monotonic()
    output(words, folder)
    seconds = time.monotonic() - began
    (file,) = (folder / words[4]).glob("*/summary.json")
    summary: dict[str, Any] = json.loads(file.read_text())
    (pair,) = summary["comparisons"][0]["rankings"][0]["ranking"]["pairs"]
    ratio_, first = pair["ratio"], pair["first"]
    ends = ratio_["low"], ratio_["value"], ratio_["high"]
    if not first.startswith("waitress"):
        ends = 1 / ends[2], 1 / ends[1], 1 / ends[0]
    return Answer(seconds, ends[1], ends[0], ends[2])


def by_hand(folder: Path, load: Callable[[str], list[str]]) -> Answer:
    """Return the ratio of loads of each server, alternately: first the one, then the other."""
    with served(folder) as urls:
        began = time.monotonic()
        rates: list[list[float]] = [[], []]
        for _ in range(LOADS):
            for url, values in zip(urls, rates, strict=True):
                match = RATE.search(output(load(url), folder))
                if match is None:
                    sys.exit(f"no rate in the output of {load(url)}")
                values.append(float(match[1]))
    seconds = time.monotonic() - began
    logs = [math.log(first / second) for first, second in zip(*rates, strict=True)]
    middle = statistics.fmean(logs)
    half = t_quantile(0.975, LOADS - 1) * statistics.stdev(logs) / math.sqrt(LOADS)
    return Answer(seconds, *map(math.exp, (middle, middle - half, middle + half)))


def by_hyperfine(folder: Path) -> Answer:
    """Return the ratio that hyperfine prints of two runs of ab, with two standard deviations."""
    with served(folder) as urls:
        began = time.monotonic()
        ab = [" ".join([*program("ab"), f"-n{REQUESTS} -c{CONNECTIONS} -q {url}"]) for url in urls]
        words = [*program("hyperfine"), "-N", "-r5", "--export-json", "hyperfine.json", *ab]
        output(words, folder)
        seconds = time.monotonic() - began
    first, second = json.loads((folder / "hyperfine.json").read_text())["results"]
    value = second["mean"] / first["mean"]
    spread = sum((each["stddev"] / each["mean"]) ** 2 for each in (first, second)) ** 0.5
    return Answer(seconds, value, value * (1 - 2 * spread), value * (1 + 2 * spread))


@contextlib.contextmanager
def served(folder: Path) -> Iterator[list[str]]:
    """Start both servers; yield their addresses."""
    processes, urls = [], []
    try:
        for server in SERVERS:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            words = server.format(port=port).split()
            words[0] = str(Path(sys.executable).with_name(words[0]))
            processes.append(
                subprocess.Popen(
                    words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
                )
            )
            urls.append(f"http://127.0.0.1:{port}/")
            for _ in range(2000):
                with socket.socket() as asking:
                    if asking.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.005)
        yield urls
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def program(name: str) -> list[str]:
    """Return the words that start a program, wherever it was found."""
    path = locate(name)
    if path is None:
        sys.exit(f"{name} is missing")
    return ["env", *(f"{key}={value}" for key, value in libraries(path).items()), str(path)]


def output(words: Sequence[str], folder: Path) -> str:
    """Return what a command prints; end here where it fails."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
