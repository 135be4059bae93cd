"""How well turns resolve planted costs, beside ordinary trials of the same servers, in one run.

    .venv/bin/python benchmarks/turns.py measure SECONDS FOLDER [--kinds A,B] [--designs 2s,turns]
    .venv/bin/python benchmarks/turns.py show FOLDER

Kinds of servers: waitress, aiohttp, gunicorn (closes idle connections after 2 s), uvicorn, gunicorn
with PostgreSQL, and ten equal servers of waitress. Of each other kind there are five servers: `a`,
`same` (equal to it) and three that compute for 2, 5 and 10 % more of the CPU time of a response.
Designs are `turns`, and the loads of trials without turns, such as `1s,2s,5s,turns`: then it shows
which load needs the least time. Blocks of all kinds and designs alternate until the time is over.
FOLDER keeps the results; a second call adds to them, and plants the same.

Of each pair `show` prints the ratio with its 95 % interval, the deviation of a block's log-ratio,
the seconds of a block, and the minutes that 5 % and 3 % take with 80 % power; how far the ratios in
turns are from the others; in how many intervals of five launches 1 is. Then it cuts the launches
into comparisons, one after the other, as `until = "5%"` with a claim has them: a comparison ends
once an interval that holds at all looks excludes 1, or once its interval is narrow, or after five
minutes. Less variance x minutes is better.

Nothing is asserted: on another machine, or beside other work, the numbers are others.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchforge.model.suite.until import Until
from benchforge.stats.inference.hodges_lehmann import ratio
from benchforge.stats.inference.interval import blocks_for, welch
from benchforge.stats.inference.stopping import earlier_sequence, enough

SHARES = {"planted-2": 0.02, "planted-5": 0.05, "planted-10": 0.10}
SERVERS = ("a", "same", *SHARES)
TEN = tuple(f"s{number}" for number in range(1, 11))
GROUP = 5  # launches of an interval whose coverage is counted
LEAST, WIDTH, LONGEST_S = 8, 0.05, 300.0  # of a comparison: launches, half-width, seconds
UNTIL_LEVEL = 0.96  # the level at which `until` forms its intervals of 95 %
LEAST_BLOCKS = 3
MANY = 2000  # blocks: the time ends it
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
ASGI = """
SPIN = {spin}

async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    for _ in range(SPIN):
        pass
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"4")]
    await send({{"type": "http.response.start", "status": 200, "headers": headers}})
    await send({{"type": "http.response.body", "body": b"pong"}})
"""
KINDS = {
    "waitress": (WSGI, 'use = "waitress"', ""),
    "aiohttp": (AIOHTTP, 'use = "aiohttp"', ""),
    "gunicorn": (WSGI, 'use = "gunicorn"\nworker_class = "gthread"\nthreads = 8', ""),
    "uvicorn": (ASGI, 'use = "uvicorn"', ""),
    "postgresql": (
        POSTGRESQL,
        'use = "gunicorn"\nworker_class = "gthread"\nworkers = 1\nthreads = 4',
        'backends = ["agents"]',
    ),
    "ten": (WSGI, 'use = "waitress"', ""),
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
each = "{each}"
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
TURNS = "turns"
Trials = list[dict[str, Any]]


def main() -> None:
    """Measure into a folder, or show what is in it."""
    parser = argparse.ArgumentParser(description="Resolving power of servers in turns.")
    commands = parser.add_subparsers(dest="command", required=True)
    measure = commands.add_parser("measure")
    measure.add_argument("seconds", type=float)
    measure.add_argument("folder", type=Path)
    measure.add_argument("--kinds", default=",".join(KINDS))
    measure.add_argument("--designs", default=f"2s,{TURNS}")
    measure.add_argument("--each", default="2s")
    commands.add_parser("show").add_argument("folder", type=Path)
    given = parser.parse_args()
    if given.command == "measure":
        kinds, designs = given.kinds.split(","), given.designs.split(",")
        spins = planted(given.folder, kinds)
        run(given.folder / "all", spins, designs, given.each, MANY, seconds=given.seconds)
    show(given.folder)


def labels_of(kind: str) -> tuple[str, ...]:
    """Return the labels of the servers of a kind."""
    return TEN if kind == "ten" else SERVERS


def pairs_of(kind: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs that are compared; those of ten servers share no server."""
    if kind == "ten":
        return tuple(zip(TEN[::2], TEN[1::2], strict=True))
    return tuple((label, "a") for label in SERVERS[1:])


def planted(folder: Path, kinds: Sequence[str]) -> dict[str, int]:
    """Return for each kind how many loops take 1 % of the CPU time of a response.

    Measured once for a folder, so that results can be added to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "planted.json"
    spins: dict[str, int] = json.loads(kept.read_text()) if kept.exists() else {}
    missing = [kind for kind in kinds if kind not in spins]
    if missing:
        loop_s = spin_s()
        first = folder / "first"
        run(first, dict.fromkeys(missing, 0), ["2s"], "2s", blocks=1, labels=("a",))
        trials = [one.document for one in launches(first)]
        spins |= {kind: spin_of(of(trials, kind, "2s"), loop_s) for kind in missing}
        kept.write_text(json.dumps(spins))
    return {kind: spins[kind] for kind in kinds}


def spin_s() -> float:
    """Return how long one pass of the planted loop takes, in seconds."""
    code = "import timeit; print(min(timeit.repeat('for _ in range(100000): pass', number=1)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout) / 100_000


def spin_of(trials: Trials, loop_s: float) -> int:
    """Return how many loops are 1 % of the CPU time of a response."""
    costs: list[float] = [
        usage["cpu_s"] / one["reading"]["responses"]
        for one in trials
        for usage in one["observation"]["usage"]
        if usage["role"] == "server"
    ]
    return max(1, round(0.01 * statistics.median(costs) / loop_s))


def run(
    out: Path,
    spins: dict[str, int],
    designs: Sequence[str],
    each: str,
    blocks: int,
    labels: tuple[str, ...] | None = None,
    seconds: float | None = None,
) -> None:
    """Write the suite and its apps, and run it; after so many seconds it is interrupted."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite = folder / "turns.toml"
        suite.write_text(suite_text(folder, spins, designs, each, blocks, labels))
        words = [sys.executable, "-m", "benchforge", "run", str(suite), "-o", str(out)]
        with (out.parent / f"{out.name}.log").open("ab") as log:
            process = subprocess.Popen(words, stdout=log, stderr=log)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.terminate()  # a shell that starts this in the background has SIGINT ignored
                process.wait()


def suite_text(
    folder: Path,
    spins: dict[str, int],
    designs: Sequence[str],
    each: str,
    blocks: int,
    labels: tuple[str, ...] | None,
) -> str:
    """Return the suite, after writing its apps below the folder."""
    lengths = {design: each if design == TURNS else design for design in designs}
    text = HEAD.format(blocks=blocks, each=each)
    if TURNS not in designs:
        text = text.replace(f'each = "{each}"\n', "")
    text += "".join(LOADER.format(length=one) for one in dict.fromkeys(lengths.values()))
    for kind, spin in spins.items():
        app, use, more = KINDS[kind]
        for label in labels or labels_of(kind):
            place = folder / f"{kind}-{label}"
            place.mkdir()
            loops = round(100 * SHARES.get(label, 0.0) * spin)
            (place / "served.py").write_text(app.format(spin=loops))
            text += SERVER.format(kind=kind, label=label, use=use)
        servers = json.dumps([f"{kind}-{label}" for label in labels or labels_of(kind)])
        for design in designs:
            slice_of = "50ms" if kind == "ten" else "100ms"
            interleave = slice_of if design == TURNS else "off"
            named = {"kind": kind, "design": design, "interleave": interleave}
            named["length"] = lengths[design]
            text += SCENARIO.format(**named, servers=servers, more=more)
    return text


@dataclass(frozen=True)
class Launch:
    """A trial that was measured, and the result that it is of."""

    result: str
    document: dict[str, Any]


def launches(folder: Path) -> list[Launch]:
    """Return the trials below a folder that were measured; how many failed is printed."""
    files = sorted(folder.glob("*/trials/*/trial.json"))
    trials = [Launch(file.parts[-4], json.loads(file.read_text())) for file in files]
    failed = [one for one in trials if one.document["failure"] is not None]
    if failed:
        print(f"{len(failed)} of {len(trials)} trials failed")
    for message in sorted({one.document["failure"]["message"] for one in failed}):
        print(f"  failed: {message}")
    return [one for one in trials if one.document["failure"] is None]


def of(trials: Trials, kind: str, design: str) -> Trials:
    """Return the trials of a kind of servers in one design."""
    return [one for one in trials if one["case"]["scenario"] == f"{kind}-{design}"]


def show(folder: Path) -> None:
    """Print what is in a folder of results: each pair, then all comparisons."""
    trials = launches(folder / "all")
    if not trials:
        sys.exit((folder / "all.log").read_text())
    scenarios = dict.fromkeys(one.document["case"]["scenario"] for one in trials)
    kinds: dict[str, list[str]] = defaultdict(list)
    for scenario in scenarios:
        kind, _, design = scenario.rpartition("-")
        kinds[kind].append(design)
    for kind, designs in kinds.items():
        print(f"\n{kind}")
        for label, other in pairs_of(kind):
            logs: dict[str, list[float]] = {}
            for design in designs:
                mine = [t for t in trials if t.document["case"]["scenario"] == f"{kind}-{design}"]
                logs[design] = log_ratios(mine, f"{kind}-{label}", f"{kind}-{other}")
                seconds = took_s(mine)
                print(f"  {label:10} {design:5} {line(logs[design], seconds)}")
            apart(label, logs)


def apart(label: str, logs: dict[str, list[float]]) -> None:
    """Print how far the ratio in turns is from that of each other design."""
    for design, values in logs.items():
        if design == TURNS or len(values) < LEAST_BLOCKS or len(logs.get(TURNS, ())) < LEAST_BLOCKS:
            continue
        difference = welch(logs[TURNS], values, 0.95)
        if difference is not None:
            print(
                f"  {label:10} turns less {design}: {100 * difference.difference:+.1f} %, "
                f"+- {100 * difference.half:.1f} (95 %)"
            )


def line(logs: list[float], seconds: float) -> str:
    """Return what a design says of a pair, what it costs, and how its comparisons end."""
    if len(logs) < LEAST_BLOCKS:
        return f"{len(logs)} blocks: no interval"
    pair = ratio([math.exp(one) for one in logs], [1.0] * len(logs))
    assert pair.value is not None  # noqa: S101 - of three values that are positive
    assert pair.low is not None  # noqa: S101
    assert pair.high is not None  # noqa: S101
    spread, block_s = statistics.stdev(logs), seconds / len(logs)
    minutes = [blocks_for(math.log1p(size), spread) * block_s / 60 for size in (0.05, 0.03)]
    held, groups = coverage(logs)
    ends = list(comparisons(logs, block_s))
    higher, lower = ends.count("more"), ends.count("less")
    return (
        f"{pair.value:.3f} ({pair.low:.3f} to {pair.high:.3f}), {len(logs)} blocks of "
        f"{block_s:.1f} s, sd {100 * spread:.1f} %, "
        f"variance x minutes {1e4 * spread**2 * block_s / 60:.2f}e-4, "
        f"5 % takes {minutes[0]:.1f} min, 3 % {minutes[1]:.1f} min; "
        f"1 is in {held} of {groups} intervals of {GROUP}; "
        f"{len(ends)} comparisons: {lower} say less, {higher} more"
    )


def coverage(logs: list[float]) -> tuple[int, int]:
    """Return in how many intervals of some consecutive launches 1 is, and of how many."""
    groups = [logs[at : at + GROUP] for at in range(0, len(logs) - GROUP + 1, GROUP)]
    pairs = [ratio([math.exp(one) for one in group], [1.0] * GROUP) for group in groups]
    return sum(
        one.low is None or one.high is None or one.low <= 1 <= one.high for one in pairs
    ), len(groups)


def comparisons(logs: Sequence[float], block_s: float) -> Iterator[str]:
    """Yield how each comparison ends, `more`, `less` or `open`; the last one may lack launches."""
    most = max(LEAST, int(LONGEST_S / block_s))
    until = Until(width=WIDTH, least=LEAST, most=most)
    at = 0
    while at + LEAST <= len(logs):
        for n in range(LEAST, most + 1):
            if at + n > len(logs):
                return
            values = [math.exp(one) for one in logs[at : at + n]]
            pair = ratio(values, [1.0] * n, UNTIL_LEVEL)
            ends = earlier_sequence(pair, 1)
            decided = ends is not None and not ends[0] <= 1 <= ends[1]
            if decided or enough([pair], n, until).stop:
                low, high = ends if decided and ends is not None else (pair.low, pair.high)
                assert low is not None  # noqa: S101 - of eight values that differ
                assert high is not None  # noqa: S101
                yield "more" if low > 1 else "less" if high < 1 else "open"
                at += n
                break


def log_ratios(trials: Sequence[Launch], server: str, other: str) -> list[float]:
    """Return the log-ratio of the rates of two servers in each block that has both."""
    rates: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for one in trials:
        reading, case = one.document["reading"], one.document["case"]
        of_block = rates[one.result, one.document["block"]]
        of_block[case["server"]] = reading["responses"] / reading["seconds"]
    return [
        math.log(both[server] / both[other])
        for _, both in sorted(rates.items())
        if server in both and other in both
    ]


def took_s(trials: Sequence[Launch]) -> float:
    """Return the seconds of all trials; those that took turns are one."""
    joint: dict[object, float] = {}
    for one in trials:
        turns = one.document["turns"]
        key = (one.result, *(turns["trials"] if turns else [one.document["number"]]))
        joint[key] = max(joint.get(key, 0.0), one.document["seconds"])
    return sum(joint.values())


if __name__ == "__main__":
    main()
