"""What looking costs: requests/s with the sampler at 4 Hz over those without it, in one session.

    .venv/bin/python benchmarks/observer.py [PAIRS]

Each pair is two trials of one suite by the real command, in a random order: one is looked at before
and after its load only, the other four times a second too. Shown is the mean ratio with its 95 %
interval (paired t on the logarithms), and what the sampler used of a CPU.
"""

import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.interval import t_of_logs

PAIRS = 10
SUITE = """
benchforge = 1
[servers.app]
use = "gunicorn"
app = "hello_flask"
workers = 2
[loaders.wrk]
use = "wrk"
connections = 8
duration = "3s"
[scenarios.hello]
request = { path = "/" }
servers = ["app"]
loaders = ["wrk"]
[repeat]
blocks = 1
warmup = "1s"
"""
COMMAND = """
import math, sys
from benchforge.run.trial import load as drive
if {every_s} == 0:
    drive.EVERY_S = math.inf
from benchforge.cli import main
sys.argv[0] = "benchforge"
main()
"""


def main() -> None:
    """Measure and print; judge nothing."""
    pairs = int(sys.argv[1]) if sys.argv[1:] else PAIRS
    ratios: list[float] = []
    shares: dict[float, list[float]] = {0: [], 0.25: []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "suite.toml").write_text(SUITE)
        for _ in range(pairs):
            rates: dict[float, float] = {}
            for every_s in random.sample((0, 0.25), 2):
                rates[every_s], share = trial(folder, every_s)
                shares[every_s].append(share)
            ratios.append(math.log(rates[0.25] / rates[0]))
    found = t_of_logs(ratios, "paired t of log-ratios", 0.95)
    print(f"requests/s at 4 Hz over those at 0 Hz, {pairs} pairs")
    print(f"  {found.value:.3f} ({_interval(found)})")
    for every_s, what in ((0, "0 Hz"), (0.25, "4 Hz")):
        median, most = statistics.median(shares[every_s]), max(shares[every_s])
        print(f"benchforge's share of a CPU at {what}: median {median:.2%}, at most {most:.2%}")


def trial(folder: Path, every_s: float) -> tuple[float, float]:
    """Return the requests/s of a trial, and which share of a CPU benchforge took meanwhile."""
    words = [sys.executable, "-c", COMMAND.format(every_s=every_s), "run", "suite.toml", "-o"]
    with tempfile.TemporaryDirectory(dir=folder) as results:
        done = subprocess.run(
            [*words, results], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        (file,) = Path(results).glob("*/trials/*/trial.json")
        told = json.loads(file.read_text())
    reading, seen = told["reading"], told["observation"]
    if (every_s == 0) != (seen["samples"] == 2):  # noqa: PLR2004 - before the load and after it
        sys.exit(f"{seen['samples']} samples: the sampler was not what it was told to be")
    return reading["responses"] / reading["seconds"], seen["sampler_cpu_s"] / seen["seconds"]


def _interval(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return found.why
    return f"95 % interval {found.low:.3f} to {found.high:.3f}"


if __name__ == "__main__":
    main()
