"""How often `benchforge gate` is right: of equal commits, and of one that costs 5 % more.

    .venv/bin/python benchmarks/gate.py [SECONDS] [SECONDS_PER_GATE] [METRIC]

A real git repository has a small WSGI app. Its base commit computes for a while; `equal` changes a
comment, and `planted` computes for 5 % more of the CPU time of a response, by measurements with and
without the computing. Gates of both alternate until the time is over. It prints each gate, then the
counts.

Nothing is asserted: on another machine, or beside other work, the numbers are others.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SHARE = 0.05
LIMIT = "5%"
LOOPS = 40_000
APP = '''"""{comment}"""


def app(environ, start_response):
    for _ in range({loops}):
        pass
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
'''
SUITE = """benchforge = 1
[servers.app]
use = "waitress"
app = "served:app"
directory = "."
threads = 1
[loaders.closed]
use = "pace"
connections = 2
duration = "2s"
[metrics.throughput]
use = "throughput"
[metrics.cpu]
use = "cpu"
[scenarios.pong]
servers = ["app"]
loaders = ["closed"]
metrics = [{metrics}]
expect = {{ body = "pong" }}
[repeat]
quiet = "off"
"""
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@localhost")


def main() -> None:
    """Make the repository, calibrate the planted cost, and count the verdicts."""
    given = dict(enumerate(sys.argv))
    seconds, each = float(given.get(1, "600")), given.get(2, "60")
    metric = given.get(3, "throughput")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "repository"
        folder.mkdir()
        planted = made(folder, metric)
        print(f"{LOOPS} loops at the base, {planted} planted; {metric}; {each} s for each gate")
        counts: dict[str, Counter[str]] = {"equal": Counter(), "planted": Counter()}
        widths: list[float] = []
        for kind in alternating(seconds):
            outcome = gated(folder, kind, each)
            (verdict,) = outcome["verdicts"]
            counts[kind][verdict["state"]] += 1
            if verdict["low"] is not None:
                widths.append(verdict["high"] - verdict["low"])
            print(kind, *(verdict[key] for key in ("state", "speed", "low", "high", "blocks")))
            sys.stdout.flush()
    for kind, counted in counts.items():
        print(f"{kind}: {counted.total()} gates: {dict(counted)}")
    if widths:
        print(f"median width of an interval: {100 * statistics.median(widths):.1f} %")


def alternating(seconds: float) -> Iterator[str]:
    """Yield the kinds of a gate in turn, until the time is over."""
    ends = time.monotonic() + seconds
    while True:
        for kind in ("equal", "planted"):
            if time.monotonic() > ends:
                return
            yield kind


def made(folder: Path, metric: str) -> int:
    """Commit the base and both branches. Return the number of loops that are planted."""
    git(folder, "init", "-q", "-b", "main")
    metrics = ", ".join(f'"{one}"' for one in dict.fromkeys([metric, "throughput", "cpu"]))
    (folder / ".gitignore").write_text("__pycache__/\n")
    (folder / "suite.toml").write_text(SUITE.format(metrics=metrics))
    committed(folder, "without", 0, "without computing")
    without_s = cpu_s(folder)
    committed(folder, "main", LOOPS, "the base")
    with_s = cpu_s(folder)
    planted = round(SHARE * with_s * LOOPS / (with_s - without_s))
    for branch, loops in (("equal", LOOPS), ("planted", LOOPS + planted)):
        git(folder, "checkout", "-q", "-b", branch, "main")
        committed(folder, branch, loops, branch)
    return planted


def committed(folder: Path, message: str, loops: int, comment: str) -> None:
    """Commit the app."""
    (folder / "served.py").write_text(APP.format(comment=comment, loops=loops))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def cpu_s(folder: Path) -> float:
    """Return the CPU time of the server for a response of the base, in seconds."""
    out = folder.parent / f"calibration-{time.monotonic_ns()}"
    words = ["run", "suite.toml", "-o", str(out), "--set", "repeat.blocks=3"]
    benchforge(folder, *words)
    costs: list[float] = [
        usage["cpu_s"] / trial["reading"]["responses"]
        for file in out.glob("*/trials/*/trial.json")
        if (trial := json.loads(file.read_text()))["reading"]
        for usage in trial["observation"]["usage"]
        if usage["role"] == "server"
    ]
    return statistics.median(costs)


def gated(folder: Path, branch: str, each: str) -> Any:
    """Return the outcome of a gate of a branch against the base."""
    git(folder, "checkout", "-q", branch)
    words = ["suite.toml", "--base", "main", "--limit", LIMIT, "--time", each, "--json"]
    done = benchforge(folder, "gate", *words, "-o", str(folder.parent / "results"))
    if not done.stdout:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def benchforge(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run benchforge in the repository."""
    return subprocess.run(
        [sys.executable, "-m", "benchforge", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def git(folder: Path, *words: str) -> None:
    """Run git in the repository."""
    subprocess.run([*GIT, *words], cwd=folder, check=True)


if __name__ == "__main__":
    main()
