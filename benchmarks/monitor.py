"""What the monitor costs: requests/s of loads with it over those without it, in one session.

    .venv/bin/python benchmarks/monitor.py [ROUNDS] [TOOL] [KEEP]

The tool is wrk or pace. With a file KEEP, rounds are added to it, and all of them are shown: so a
long measurement can come in pieces.

Each round is three trials of one suite by the real command, in a random order: one with the monitor
as it is by default, and two without it. Shown are the mean ratio of the first to the second, and
that of the second to the third (A/A), with 95 % intervals (paired t on the logarithms). The first
interval should contain 1 and be no wider than the second. `user + system` is the server's CPU time
per response, which other processes disturb less.

Measured beside other work (load average 10 to 20): requests/s with wrk 0.96 (0.72 to 1.28), A/A
1.36 (0.97 to 1.91), 6 rounds; with pace 0.83 (0.68 to 1.01), A/A 0.97 (0.68 to 1.41), 8 rounds.
Both intervals contain 1 and are narrower than those of A/A, and a cost of a fifth is not excluded:
repeat it on a quiet machine.
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
smoke = true
[servers.app]
use = "waitress"
app = "hello_wsgi"
[loaders.load]
use = "{tool}"
connections = 8
duration = "3s"
[scenarios.hello]
request = {{ path = "/" }}
servers = ["app"]
loaders = ["load"]
{monitor}
[repeat]
blocks = 1
warmup = "1s"
quiet = "off"
"""


def main() -> None:
    """Measure and print; judge nothing."""
    given = dict(enumerate(sys.argv[1:]))
    rounds, tool = int(given.get(0, ROUNDS)), given.get(1, "wrk")
    with tempfile.TemporaryDirectory() as name:
        kept = Path(given.get(2, f"{name}/rounds"))
        for _ in range(rounds):
            arms = random.sample(list(ARMS), len(ARMS))
            figured = {arm: figures(measured(Path(name), tool, ARMS[arm])) for arm in arms}
            with kept.open("a") as file:
                file.write(f"{json.dumps(figured)}\n")
        logs = [json.loads(line) for line in kept.read_text().splitlines()]
    moments = sum(one["monitored"]["moments"] for one in logs)
    print(f"{tool}: {len(logs)} rounds, {moments:.0f} moments in as many monitored loads")
    for key in ("requests/s", "user + system"):
        arms_of = {arm: [math.log(one[arm][key]) for one in logs] for arm in ARMS}
        off = arms_of["off"]
        ratios = [a - b for a, b in zip(arms_of["monitored"], off, strict=True)]
        same = [a - b for a, b in zip(off, arms_of["off again"], strict=True)]
        print(f"{key}: monitored over off {shown(ratios)}; A/A {shown(same)}")


def measured(folder: Path, tool: str, monitor: str) -> dict[str, Any]:
    """Return a trial of the suite."""
    (folder / "suite.toml").write_text(SUITE.format(tool=tool, monitor=monitor))
    with tempfile.TemporaryDirectory(dir=folder) as results:
        words = [sys.executable, "-m", "benchforge", "run", "suite.toml", "-o", results]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        files = sorted(Path(results).glob("*/trials/*/trial.json"))
        if not files:
            sys.exit(done.stdout + done.stderr)
        trial: dict[str, Any] = json.loads(files[0].read_text())
    return trial


def figures(trial: dict[str, Any]) -> dict[str, float]:
    """Return requests/s, the server's CPU time per response, and the moments of the monitor."""
    reading = trial["reading"]
    usages = trial["observation"]["usage"]
    (cpu_s,) = (one["cpu_s"] for one in usages if one["role"] == "server")
    rate = reading["responses"] / reading["seconds"]
    moments = trial["monitor"]["moments"] if trial["monitor"] else 0
    return {
        "requests/s": rate,
        "user + system": cpu_s / reading["responses"],
        "moments": moments,
    }


def shown(ratios: list[float]) -> str:
    """Return a mean ratio and its interval."""
    estimate: Estimate = t_of_logs(ratios, "paired t of log-ratios", 0.95)
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate.why
    return f"{estimate.value:.4f} ({estimate.low:.4f} to {estimate.high:.4f})"


if __name__ == "__main__":
    main()
