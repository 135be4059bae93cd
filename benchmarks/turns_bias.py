"""How far the ratio of one pair in turns may be from its ratio alone, by two lengths of slices.

    .venv/bin/python benchmarks/turns_bias.py FOLDER [--time-limit 10m] [--bound 2]

aiohttp and Flask serve fifty agents from PostgreSQL to wrk, as in suites/macro.toml: the pair whose
ratio in turns was 3.7 % above that alone over 34 blocks. Each block measures it alone, in slices of
100 ms and in slices of 400 ms, in random order, 2 s for each server. A second call with FOLDER goes
on where the first one ended, also where it was killed. Without `--time-limit` it only shows.

What thaws adds the same to each slice: timers that came due, the scheduler's debt to a process that
has rested, a delayed ACK, a request that was under way. So in slices four times as long a quarter
of it is left, and three quarters of the bias at 100 ms is the difference of the two lengths. What
both lengths have in common is no matter of thawing: other CPUs, caches, or what watches the loads
alone. Differences are of the same blocks, with intervals of 95 % by Student's t.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from benchforge.stats.distributions import t_quantile
from benchforge.stats.inference.interval import planned

PAIR = ("aiohttp", "flask")
DESIGNS = {"alone": "off", "100ms": "100ms", "400ms": "400ms"}
LEAST = 3
SUITE = """benchforge = 1
placement = "auto"
backends.agents = { use = "postgresql", dataset = "agents", settings = { fsync = false } }
loaders.wrk = { use = "wrk", connections = 1, threads = 1, duration = "2s" }
metrics.throughput = { use = "throughput" }
repeat = { blocks = 2000, warmup = "1s", each = "2s", quiet = "off" }
[servers.flask]
use = "gunicorn"
app = "flask_agents"
worker_class = "gthread"
workers = 1
threads = 4
[servers.aiohttp]
use = "gunicorn"
app = "aiohttp_agents"
worker_class = "aiohttp.GunicornWebWorker"
workers = 1
"""
SCENARIO = """[scenarios."{label}"]
request = {{ path = "/agents_with_pool" }}
servers = ["flask", "aiohttp"]
loaders = ["wrk"]
backends = ["agents"]
expect = {{ status = 200, content_type = "application/json", items = 50, same_body = true }}
interleave = "{interleave}"
"""


def main() -> None:
    """Measure for a while, if somebody says for how long, and show what there is."""
    parser = argparse.ArgumentParser(description="The bias of a ratio in turns.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--time-limit")
    parser.add_argument("--bound", type=float, default=2.0, help="half-width to plan for, in %")
    given = parser.parse_args()
    if given.time_limit:
        measure(given.folder, given.time_limit)
    show(log_ratios(given.folder), math.log1p(given.bound / 100))


def measure(folder: Path, time_limit: str) -> None:
    """Begin a run, or go on with the one that is there; its output goes into a file."""
    folder.mkdir(parents=True, exist_ok=True)
    suite, results = folder / "bias.toml", sorted(folder.glob("results/*/result.json"))
    scenarios = (
        SCENARIO.format(label=label, interleave=length) for label, length in DESIGNS.items()
    )
    suite.write_text(SUITE + "".join(scenarios))
    words = [str(suite), "-o", f"{folder}/results"]
    words = ["--resume", str(results[-1].parent)] if results else words
    command = [sys.executable, "-m", "benchforge", "run", *words, "--time-limit", time_limit]
    with (folder / "run.log").open("ab") as log:
        subprocess.run(command, stdout=log, stderr=log, check=False)


def log_ratios(folder: Path) -> dict[str, dict[int, float]]:
    """Return the log-ratio of each block that has both servers, by design."""
    rates: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for file in folder.glob("results/*/trials/*/trial.json"):
        trial = json.loads(file.read_text())
        case, reading = trial["case"], trial["reading"]
        if reading and not trial["failure"]:
            rate = reading["responses"] / reading["seconds"]
            rates[case["scenario"], trial["block"]][case["server"]] = rate
    ratios: dict[str, dict[int, float]] = {design: {} for design in DESIGNS}
    for (design, block), both in rates.items():
        if both.keys() == set(PAIR):
            ratios[design][block] = math.log(both[PAIR[0]] / both[PAIR[1]])
    return ratios


def show(ratios: dict[str, dict[int, float]], bound: float) -> None:
    """Print a line for each design, and one for each two of them."""
    print("/".join(PAIR))
    for design, by_block in ratios.items():
        values = [*by_block.values()]
        if len(values) < LEAST:
            sys.exit(f"{design}: {len(values)} blocks, and {LEAST} are the least: see run.log")
        mean, half = interval(values)
        ends = (math.exp(mean - half), math.exp(mean + half))
        print(f"{design}: {math.exp(mean):.3f} ({ends[0]:.3f} to {ends[1]:.3f}), {len(values)}")
    for reference, design in combinations(DESIGNS, 2):
        blocks = ratios[reference].keys() & ratios[design].keys()
        differences = [ratios[design][block] - ratios[reference][block] for block in sorted(blocks)]
        if len(differences) < LEAST:
            continue
        mean, half = interval(differences)
        low, middle, high = (100 * math.expm1(mean + end) for end in (-half, 0, half))
        print(
            f"{design} over {reference}: {middle:+.1f} % ({low:+.1f} to {high:+.1f}), "
            f"{len(blocks)} blocks; +- {100 * math.expm1(bound):.1f} % takes "
            f"{planned(differences, bound)}; remaining bound {max(abs(low), abs(high)):.1f} %"
        )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return a mean, and the half-width of its interval of 95 %."""
    half = statistics.stdev(values) / math.sqrt(len(values))
    return statistics.fmean(values), t_quantile(0.975, len(values) - 1) * half


if __name__ == "__main__":
    main()
