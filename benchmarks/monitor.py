"""What the monitor costs: requests/s of loads with it over those without it, in one session.

    .venv/bin/python benchmarks/monitor.py [ROUNDS]

Each round is three trials of one suite by the real command, in a random order: one with the
monitor as it is by default, and two without it. Shown are the mean ratio of the first to the
second, and that of the second to the third (A/A), with 95 % intervals (paired t on the logarithms).
The first interval should contain 1 and be no wider than the second. `user + system` is the server's
CPU time per response, which other processes disturb less.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.interval import t_of_logs

ROUNDS = 12
ARMS = {"monitored": "", "off": 'monitor = "off"', "off again": 'monitor = "off"'}
SUITE = """
benchforge = 1
[servers.app]
use = "waitress"
app = "hello_wsgi"
[loaders.wrk]
use = "wrk"
connections = 8
duration = "3s"
[scenarios.hello]
request = {{ path = "/" }}
servers = ["app"]
loaders = ["wrk"]
{monitor}
[repeat]
blocks = 1
warmup = "1s"
quiet = "off"
"""


def main() -> None:
    """Measure and print; judge nothing."""
    rounds = int(sys.argv[1]) if sys.argv[1:] else ROUNDS
    logs: dict[str, list[dict[str, float]]] = {arm: [] for arm in ARMS}
    moments: list[int] = []
    with tempfile.TemporaryDirectory() as name:
        for _ in range(rounds):
            for arm in random.sample(list(ARMS), len(ARMS)):
                trial = measured(Path(name), ARMS[arm])
                logs[arm].append({key: math.log(value) for key, value in figures(trial).items()})
                if arm == "monitored":
                    moments.append(trial["monitor"]["moments"])
    print(f"{rounds} rounds, {sum(moments)} moments in {rounds} monitored loads")
    for key in ("requests/s", "user + system"):
        arms = {arm: [one[key] for one in logs[arm]] for arm in ARMS}
        ratios = [a - b for a, b in zip(arms["monitored"], arms["off"], strict=True)]
        same = [a - b for a, b in zip(arms["off"], arms["off again"], strict=True)]
        print(f"{key}: monitored over off {shown(ratios)}; A/A {shown(same)}")


def measured(folder: Path, monitor: str) -> dict[str, Any]:
    """Return a trial of the suite."""
    (folder / "suite.toml").write_text(SUITE.format(monitor=monitor))
    with tempfile.TemporaryDirectory(dir=folder) as results:
        words = [sys.executable, "-m", "benchforge", "run", "suite.toml", "-o", results]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        files = sorted(Path(results).glob("*/trials/*/trial.json"))
        if not files:
            sys.exit(done.stdout + done.stderr)
        trial: dict[str, Any] = json.loads(files[0].read_text())  # the first attempt, noisy or not
    return trial


def figures(trial: dict[str, Any]) -> dict[str, float]:
    """Return requests/s, and the server's CPU time per response."""
    reading = trial["reading"]
    usages = trial["observation"]["usage"]
    (cpu_s,) = (one["cpu_s"] for one in usages if one["role"] == "server")
    rate = reading["responses"] / reading["seconds"]
    return {"requests/s": rate, "user + system": cpu_s / reading["responses"]}


def shown(ratios: list[float]) -> str:
    """Return a mean ratio and its interval."""
    estimate: Estimate = t_of_logs(ratios, "paired t of log-ratios", 0.95)
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate.why
    return f"{estimate.value:.4f} ({estimate.low:.4f} to {estimate.high:.4f})"


if __name__ == "__main__":
    main()
