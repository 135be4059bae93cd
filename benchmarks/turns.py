"""How well turns resolve a planted cost, beside ordinary trials of the same servers, in one run.

    .venv/bin/python benchmarks/turns.py [SECONDS_PER_DESIGN]

Three servers of one app: `a`, `same` (equal to it) and `planted`, which computes for 5 % more of
the CPU time of a response, by a measurement of its own. Blocks of both designs alternate. Of each
pair it prints the ratio with its 95 % interval, the deviation of a block's log-ratio, the minutes
that a design took, and variance times minutes per block: what it needs for the same precision.

Nothing is asserted: on another machine, or beside other work, the numbers are others.
"""

import json
import math
import statistics
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any

from benchforge.stats.inference.ratio import ratio

SHARE = 0.05
BLOCK_S = 12.0  # of both designs together, about
APP = """
SPIN = {spin}

def app(environ, start_response):
    for _ in range(SPIN):
        pass
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
"""
SUITE = """benchforge = 1
[servers.a]
use = "waitress"
directory = "equal"
app = "served:app"
[servers.same]
use = "waitress"
directory = "equal_too"
app = "served:app"
[servers.planted]
use = "waitress"
directory = "planted"
app = "served:app"
[loaders.closed]
use = "pace"
connections = 8
duration = "2s"
[metrics.throughput]
use = "throughput"
[metrics.cpu]
use = "cpu"
[scenarios.turns]
servers = ["a", "same", "planted"]
loaders = ["closed"]
interleave = "100ms"
[scenarios.alone]
servers = ["a", "same", "planted"]
loaders = ["closed"]
[repeat]
blocks = {blocks}
each = "2s"
quiet = "off"
"""


def main() -> None:
    """Calibrate the planted cost, measure, and print both designs."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 120.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cost_s = cpu_of_a_response(measured(folder, spin=0, blocks=1))
        spin = max(1, round(SHARE * cost_s / spin_s()))
        trials = measured(folder, spin, blocks=max(3, round(seconds / BLOCK_S)))
    print(f"a response takes {cost_s * 1e6:.0f} us of CPU; planted are {spin} loops more")
    for design in ("alone", "turns"):
        shown(design, [one for one in trials if one["case"]["scenario"] == design])


def spin_s() -> float:
    """Return how long one pass of the planted loop takes, in seconds."""
    code = "import timeit; print(min(timeit.repeat('for _ in range(100000): pass', number=1)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout) / 100_000


def measured(folder: Path, spin: int, blocks: int) -> list[dict[str, Any]]:
    """Run the suite, and return its trials by number."""
    for label, loops in (("equal", 0), ("equal_too", 0), ("planted", spin)):
        (folder / label).mkdir(exist_ok=True)
        (folder / label / "served.py").write_text(APP.format(spin=loops))
    suite = folder / f"turns_{spin}_{blocks}.toml"
    suite.write_text(SUITE.format(blocks=blocks))
    out = folder / f"results-{spin}-{blocks}"
    words = [sys.executable, "-m", "benchforge", "run", str(suite), "-o", str(out)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    files = sorted(out.glob("*/trials/*/trial.json"))
    if not files:
        sys.exit(done.stderr)
    trials = [json.loads(file.read_text()) for file in files]
    failed = {one["failure"]["message"] for one in trials if one["failure"] is not None}
    print(*(f"failed: {message}" for message in failed), sep="\n", end="\n" if failed else "")
    return [one for one in trials if one["failure"] is None]


def cpu_of_a_response(trials: list[dict[str, Any]]) -> float:
    """Return the CPU time of the server for each response of `a`, in seconds."""
    costs: list[float] = [
        usage["cpu_s"] / one["reading"]["responses"]
        for one in trials
        for usage in one["observation"]["usage"]
        if one["case"]["server"] == "a" and usage["role"] == "server"
    ]
    return statistics.median(costs)


def shown(design: str, trials: list[dict[str, Any]]) -> None:
    """Print what a design says of the equal pair and of the planted one."""
    rates: dict[str, dict[int, float]] = {}
    for one in trials:
        reading = one["reading"]
        by_block = rates.setdefault(one["case"]["server"], {})
        by_block[one["block"]] = reading["responses"] / reading["seconds"]
    minutes = took_s(trials) / 60
    for other, means in (("same", "equal"), ("planted", "planted")):
        blocks = sorted(rates["a"].keys() & rates[other].keys())
        ours, theirs = [rates[other][b] for b in blocks], [rates["a"][b] for b in blocks]
        found = ratio(ours, theirs)
        logs = [math.log(x / y) for x, y in zip(ours, theirs, strict=True)]
        spread = statistics.stdev(logs)
        ends = (
            "no interval" if found.interval is None else "{:.3f} to {:.3f}".format(*found.interval)
        )
        print(
            f"{design:6} {means:8} {found.value or math.nan:.3f} ({ends}), {len(blocks)} blocks, "
            f"{minutes:.1f} min; a block scatters by {100 * spread:.1f} %; "
            f"variance x minutes / blocks {1e4 * spread**2 * minutes / len(blocks):.2f}e-4"
        )


def took_s(trials: list[dict[str, Any]]) -> float:
    """Return the seconds of all trials; those that took turns are one."""
    joint = [
        (tuple(one["turns"]["trials"]) if one["turns"] else one["number"], one) for one in trials
    ]
    grouped = groupby(sorted(joint, key=lambda pair: str(pair[0])), key=lambda pair: pair[0])
    longest: list[float] = [max(one["seconds"] for _, one in group) for _, group in grouped]
    return sum(longest)


if __name__ == "__main__":
    main()
