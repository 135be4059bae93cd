"""How well turns resolve a planted cost, beside ordinary trials of the same servers, in one run.

    .venv/bin/python benchmarks/turns.py [SECONDS [RESULTS [DESIGNS]]]

DESIGNS are `turns`, and the loads of trials without turns, such as `1s,2s,5s,turns`: then it shows
which load needs the least time. Default: `2s,turns`.

Three kinds of servers: waitress, aiohttp, and gunicorn with PostgreSQL. Of each kind there are
three servers: `a`, `same` (equal to it) and `planted`, which computes for 5 % more of the CPU time
of a response, by a measurement of its own. Blocks of all designs alternate. Of each pair it prints
the ratio with its 95 % interval, the deviation of a block's log-ratio, the seconds of a block, and
the minutes that 5 % and 3 % take with 80 % power; and how far the ratios in turns are from the
others. Less variance x minutes is better. With RESULTS it keeps the results there.

Nothing is asserted: on another machine, or beside other work, the numbers are others.
"""

import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchforge.stats.inference.ratio import ratio
from benchforge.stats.inference.sample_size import blocks_for
from benchforge.stats.inference.welch import welch

SHARE = 0.05
START_AND_STOP_S = 3.3  # of a trial beside its load, about
GROUP = 5  # launches of an interval whose coverage is counted
SERVERS = ("a", "same", "planted")
WSGI = """
SPIN = {spin}

def app(environ, start_response):
    for _ in range(SPIN):
        pass
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
"""
AIOHTTP = """
from aiohttp import web

SPIN = {spin}

async def pong(request):
    for _ in range(SPIN):
        pass
    return web.Response(text="pong")

app = web.Application()
app.router.add_get("/", pong)
"""
POSTGRESQL = """
import os, threading, psycopg2

SPIN = {spin}
own = threading.local()

def app(environ, start_response):
    for _ in range(SPIN):
        pass
    if not hasattr(own, "connection"):
        own.connection = psycopg2.connect(os.environ["DATABASE_URL"])
        own.connection.autocommit = True
    with own.connection.cursor() as cursor:
        cursor.execute("SELECT number FROM agentfeatures ORDER BY number")
        body = ",".join(str(row[0]) for row in cursor.fetchall()).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
"""
KINDS = {
    "waitress": (WSGI, 'use = "waitress"', ""),
    "aiohttp": (AIOHTTP, 'use = "aiohttp"', ""),
    "postgresql": (
        POSTGRESQL,
        'use = "gunicorn"\nworker_class = "gthread"\nworkers = 1\nthreads = 4',
        'backends = ["agents"]',
    ),
}
HEAD = """benchforge = 1
placement = "auto"
[backends.agents]
use = "postgresql"
dataset = "agents"
[metrics.throughput]
use = "throughput"
[metrics.cpu]
use = "cpu"
[repeat]
blocks = {blocks}
quiet = "off"
"""
SERVER = """[servers.{kind}-{label}]
{use}
directory = "{kind}-{label}"
app = "served:app"
"""
SCENARIO = """[scenarios.{kind}-{design}]
servers = {servers}
loaders = ["of-{length}"]
interleave = "{interleave}"
{more}
"""
LOADER = """[loaders.of-{length}]
use = "pace"
connections = 8
duration = "{length}"
"""
TURNS, EACH = "turns", "2s"
Trials = list[dict[str, Any]]


def main() -> None:
    """Calibrate the planted cost, measure, and print both designs."""
    given = [*sys.argv[1:], *("900", "", f"{EACH},{TURNS}")[len(sys.argv) - 1 :]]
    seconds, designs = float(given[0]), given[2].split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = Path(given[1]) if given[1] else folder / "results"
        first = measured(folder, dict.fromkeys(KINDS, 0), 1, ["a"], [EACH], out / "first")
        loop_s = spin_s()
        spins = {kind: spin_of(of(first, kind, EACH), loop_s) for kind in KINDS}
        loads_s = [float(length_of(design).removesuffix("s")) for design in designs]
        block_s = len(KINDS) * len(SERVERS) * sum(one + START_AND_STOP_S for one in loads_s)
        blocks = max(3, round(seconds / block_s))
        trials = measured(folder, spins, blocks, SERVERS, designs, out / "all")
    for kind, spin in spins.items():
        print(f"\n{kind}: planted are {spin} loops, {spin * loop_s * 1e6:.1f} us of CPU")
        shown(kind, trials, designs)


def length_of(design: str) -> str:
    """Return the load of each server, as the suite says it."""
    return EACH if design == TURNS else design


def spin_s() -> float:
    """Return how long one pass of the planted loop takes, in seconds."""
    code = "import timeit; print(min(timeit.repeat('for _ in range(100000): pass', number=1)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout) / 100_000


def spin_of(trials: Trials, loop_s: float) -> int:
    """Return how many loops are the planted share of the CPU time of a response."""
    costs: list[float] = [
        usage["cpu_s"] / one["reading"]["responses"]
        for one in trials
        for usage in one["observation"]["usage"]
        if usage["role"] == "server"
    ]
    return max(1, round(SHARE * statistics.median(costs) / loop_s))


def measured(
    folder: Path,
    spins: dict[str, int],
    blocks: int,
    labels: Sequence[str],
    designs: Sequence[str],
    out: Path,
) -> Trials:
    """Run the suite, and return its trials that were measured."""
    text = HEAD.format(blocks=blocks)
    text += "".join(LOADER.format(length=one) for one in dict.fromkeys(map(length_of, designs)))
    for kind, (app, use, more) in KINDS.items():
        for label in labels:
            place = folder / f"{kind}-{label}"
            place.mkdir(exist_ok=True)
            spin = spins[kind] if label == "planted" else 0
            (place / "served.py").write_text(app.format(spin=spin))
            text += SERVER.format(kind=kind, label=label, use=use)
        servers = json.dumps([f"{kind}-{label}" for label in labels])
        for design in designs:
            interleave = "100ms" if design == TURNS else "off"
            named = {"kind": kind, "design": design, "interleave": interleave}
            named["length"] = length_of(design)
            text += SCENARIO.format(**named, servers=servers, more=more)
    suite = folder / f"turns_{blocks}.toml"
    suite.write_text(text)
    words = [sys.executable, "-m", "benchforge", "run", str(suite), "-o", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    trials = [json.loads(file.read_text()) for file in sorted(out.glob("*/trials/*/trial.json"))]
    if not trials:
        sys.exit(done.stderr)
    failed = [one["failure"]["message"] for one in trials if one["failure"] is not None]
    print(*(f"failed: {message}" for message in sorted(set(failed))), sep="\n")
    return [one for one in trials if one["failure"] is None]


def of(trials: Trials, kind: str, design: str) -> Trials:
    """Return the trials of a kind of servers in one design."""
    return [one for one in trials if one["case"]["scenario"] == f"{kind}-{design}"]


def shown(kind: str, trials: Trials, designs: Sequence[str]) -> None:
    """Print what all designs say of the equal pair and of the planted one."""
    for other in ("same", "planted"):
        logs = {
            design: log_ratios(of(trials, kind, design), f"{kind}-{other}", f"{kind}-a")
            for design in designs
        }
        for design, values in logs.items():
            print(f"  {other:7} {design:5} {line(values, of(trials, kind, design))}")
        for design in designs if TURNS in designs else ():
            apart = None if design == TURNS else welch(logs[TURNS], logs[design], 0.95)
            if apart is not None:
                print(
                    f"  {other:7} turns less {design}: {100 * apart.difference:+.1f} %, "
                    f"+- {100 * apart.half:.1f} (95 %)"
                )


def line(logs: list[float], trials: Trials) -> str:
    """Return what a design says of a pair, and what it costs."""
    if len(logs) < 3:  # noqa: PLR2004 - of an interval
        return f"{len(logs)} blocks: no interval"
    found = ratio([math.exp(one) for one in logs], [1.0] * len(logs))
    assert found.value is not None  # noqa: S101 - of three values that are positive
    assert found.interval is not None  # noqa: S101
    spread, block_s = statistics.stdev(logs), took_s(trials) / len(logs)
    low, high = found.interval
    minutes = [blocks_for(math.log1p(size), spread) * block_s / 60 for size in (0.05, 0.03)]
    held, groups = coverage(logs)
    return (
        f"{found.value:.3f} ({low:.3f} to {high:.3f}), {len(logs)} blocks of {block_s:.1f} s, "
        f"sd {100 * spread:.1f} %, variance x minutes {1e4 * spread**2 * block_s / 60:.2f}e-4, "
        f"5 % takes {minutes[0]:.1f} min, 3 % {minutes[1]:.1f} min; "
        f"1 is in {held} of {groups} intervals of {GROUP}"
    )


def coverage(logs: list[float]) -> tuple[int, int]:
    """Return in how many intervals of some consecutive launches 1 is, and of how many."""
    groups = [logs[at : at + GROUP] for at in range(0, len(logs) - GROUP + 1, GROUP)]
    found = [ratio([math.exp(one) for one in group], [1.0] * GROUP).interval for group in groups]
    return sum(ends is None or ends[0] <= 1 <= ends[1] for ends in found), len(groups)


def log_ratios(trials: Trials, server: str, other: str) -> list[float]:
    """Return the log-ratio of the rates of two servers in each block that has both."""
    rates: dict[str, dict[int, float]] = defaultdict(dict)
    for one in trials:
        reading = one["reading"]
        rates[one["case"]["server"]][one["block"]] = reading["responses"] / reading["seconds"]
    blocks = sorted(rates[server].keys() & rates[other].keys())
    return [math.log(rates[server][block] / rates[other][block]) for block in blocks]


def took_s(trials: Trials) -> float:
    """Return the seconds of all trials; those that took turns are one."""
    joint: dict[object, float] = {}
    for one in trials:
        key = tuple(one["turns"]["trials"]) if one["turns"] else one["number"]
        joint[key] = max(joint.get(key, 0.0), one["seconds"])
    return sum(joint.values())


if __name__ == "__main__":
    main()
