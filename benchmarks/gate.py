"""How often `benchforge gate` is right: of equal commits, and of one that loses some speed.

    .venv/bin/python benchmarks/gate.py [--seconds S] [--time T] [--metric M] [--loss L]
        [--append FILE]

A real git repository has a small WSGI app. Its base commit computes for a while; `equal` changes a
comment, and `planted` computes for so much longer that the CPU time of a response makes it slower
by L, 0.05 by default. Two servers in turns, of which one computes for three times as long, give
that number. Two gates of equal commits and one of a planted loss alternate until the time is over:
each is a fresh gate.

Each gate is a line of JSON in FILE, with the load average of the machine. A later call goes on from
the lines that are there: it plants the same loss, and counts all gates of the file. At the end the
counts are printed, and the mean speed of each kind, which shows what was really planted.
`--seconds 0` only counts. The result of a gate with a false verdict is kept beside FILE.

Nothing is asserted: on another machine, or beside other work, the numbers are others.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from benchforge.stats.distributions import t_quantile
from benchforge.stats.inference.interval import failing

LIMIT: Final = "5%"
LOOPS: Final = 10_000
ORDER: Final = ("equal", "planted", "equal")
STATES: Final = ("slower", "not slower", "undecided", "invalid")
FALSE: Final = {"equal": "slower", "planted": "not slower"}
APP: Final = '''"""{comment}"""


def app(environ, start_response):
    for _ in range({loops}):
        pass
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
'''
SERVER: Final = """[servers.{label}]
use = "waitress"
app = "served:app"
directory = "{directory}"
threads = 1
"""
SUITE: Final = """benchforge = 1
{servers}
[loaders.closed]
use = "pace"
connections = 2
duration = "1s"
[metrics.throughput]
use = "throughput"
[metrics.cpu]
use = "cpu"
[scenarios.pong]
servers = [{labels}]
loaders = ["closed"]
metrics = [{metrics}]
expect = {{ body = "pong" }}
[repeat]
quiet = "off"
warmup = "0s"
"""
CALIBRATED: Final = 'blocks = 16\ninterleave = "100ms"\neach = "1s"\n'
GIT: Final = ("git", "-c", "user.name=a", "-c", "user.email=a@localhost")
Row = dict[str, Any]


def main() -> None:
    """Make the repository, plant the loss, and count the verdicts."""
    given = arguments()
    rows = earlier(given.append)
    ends = time.monotonic() + given.seconds
    if given.seconds > 0:
        with tempfile.TemporaryDirectory() as name:
            top = Path(name)
            planted = given.planted or (rows[-1]["planted"] if rows else 0)
            planted = planted or calibrated(top, given.loss)
            folder = made(top, planted, given.metric)
            print(f"{LOOPS} loops at the base, {planted} more planted; {given.metric}", flush=True)
            kinds = cycle(ORDER[len(rows) % len(ORDER) :] + ORDER[: len(rows) % len(ORDER)])
            for kind in kinds:
                if time.monotonic() > ends:
                    break
                row = gated(folder, kind, planted, given)
                rows.append(row)
                kept(row, given.append)
    print("\n".join(counts(rows)))


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600, help="begin no gate after this time")
    parser.add_argument("--time", default="80s", help="--time of each gate")
    parser.add_argument("--metric", choices=("cpu", "throughput"), default="cpu")
    parser.add_argument("--loss", type=float, default=0.05, help="loss that is planted")
    parser.add_argument("--planted", type=int, help="loops more than the base  [default: measured]")
    parser.add_argument("--append", type=Path, metavar="FILE", help="lines of JSON to go on from")
    return parser.parse_args()


def earlier(file: Path | None) -> list[Row]:
    """Return the gates of earlier calls."""
    if file is None or not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines() if line]


def kept(row: Row, file: Path | None) -> None:
    """Print a gate, and keep it as a line."""
    line = json.dumps(row)
    print(line, flush=True)
    if file is not None:
        with file.open("a") as opened:
            opened.write(f"{line}\n")


def calibrated(top: Path, loss: float) -> int:
    """Return the number of loops that make a response so much slower, by servers in turns."""
    more = 2 * LOOPS
    for label, loops in (("base", LOOPS), ("longer", LOOPS + more)):
        (top / label).mkdir()
        (top / label / "served.py").write_text(APP.format(comment=label, loops=loops))
    suite = suite_of({"base": "base", "longer": "longer"}, "cpu") + CALIBRATED
    (top / "calibrate.toml").write_text(suite)
    benchforge(top, "run", "calibrate.toml", "-o", "calibrated")
    costs: dict[int, dict[str, float]] = {}
    for file in top.glob("calibrated/*/trials/*/trial.json"):
        trial = json.loads(file.read_text())
        if trial["reading"]:
            usage = next(one for one in trial["observation"]["usage"] if one["role"] == "server")
            of_block = costs.setdefault(trial["block"], {})
            of_block[trial["case"]["server"]] = usage["cpu_s"] / trial["reading"]["responses"]
    ratios = [pair["longer"] / pair["base"] for pair in costs.values() if len(pair) > 1]
    return round(more * (1 / (1 - loss) - 1) / (statistics.median(ratios) - 1))


def made(top: Path, planted: int, metric: str) -> Path:
    """Return the repository: the base and both branches."""
    folder = top / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / ".gitignore").write_text("__pycache__/\n")
    (folder / "suite.toml").write_text(suite_of({"app": "."}, metric))
    committed(folder, LOOPS, "the base")
    for branch, loops in (("equal", LOOPS), ("planted", LOOPS + planted)):
        git(folder, "checkout", "-q", "-b", branch, "main")
        committed(folder, loops, branch)
    return folder


def suite_of(directories: dict[str, str], metric: str) -> str:
    """Return a suite of a server for each directory. The metric comes first."""
    return SUITE.format(
        servers="".join(
            SERVER.format(label=label, directory=place) for label, place in directories.items()
        ),
        labels=", ".join(f'"{label}"' for label in directories),
        metrics=", ".join(f'"{one}"' for one in dict.fromkeys([metric, "throughput", "cpu"])),
    )


def committed(folder: Path, loops: int, comment: str) -> None:
    """Commit the app."""
    (folder / "served.py").write_text(APP.format(comment=comment, loops=loops))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", comment)


def gated(folder: Path, kind: str, planted: int, given: argparse.Namespace) -> Row:
    """Return a gate of a branch against the base. Keep the result of a false verdict."""
    git(folder, "checkout", "-q", kind)
    words = ["suite.toml", "--base", "main", "--limit", LIMIT, "--time", given.time, "--json"]
    load, began = os.getloadavg()[0], time.monotonic()
    with tempfile.TemporaryDirectory() as results:
        done = benchforge(folder, "gate", *words, "-o", results)
        if not done.stdout:
            sys.exit(done.stderr)
        (verdict,) = json.loads(done.stdout)["verdicts"]
        if verdict["state"] == FALSE[kind] and given.append is not None:
            shutil.copytree(results, given.append.parent, dirs_exist_ok=True)
    loads = [round(one, 1) for one in (load, os.getloadavg()[0])]
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "kind": kind,
        **{key: verdict[key] for key in ("state", "speed", "low", "high", "blocks", "why")},
        "in_turns": verdict["in_turns"],
        "seconds": round(time.monotonic() - began, 1),
        "load_average": loads,
        "metric": given.metric,
        "time": given.time,
        "loops": LOOPS,
        "planted": planted,
    }


def benchforge(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run benchforge in a folder."""
    command = [sys.executable, "-m", "benchforge", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def git(folder: Path, *words: str) -> None:
    """Run git in the repository."""
    subprocess.run([*GIT, *words], cwd=folder, check=True)


def counts(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table of all gates, a row for each number of planted loops."""
    yield f"| commit | gates | {' | '.join(STATES)} | false | mean speed |"
    yield f"|---|---|{'---|' * len(STATES)}---|---|"
    kinds = {(row["kind"], row["kind"] == "planted" and row["planted"]) for row in rows}
    for kind, planted in sorted(kinds):
        of_kind = [
            row
            for row in rows
            if row["kind"] == kind and (not planted or row["planted"] == planted)
        ]
        states = Counter(row["state"] for row in of_kind)
        wrong = states[FALSE[kind]]
        numbers = [str(states[state]) for state in STATES]
        name = f"{planted} loops more" if planted else kind
        cells = [name, str(len(of_kind)), *numbers, share(wrong, len(of_kind)), mean(of_kind)]
        yield f"| {' | '.join(cells)} |"
    loads = sorted(row["load_average"][0] for row in rows)
    if loads:
        of = " to ".join(f"{one:g}" for one in (loads[0], loads[-1]))
        seconds = statistics.median(row["seconds"] for row in rows)
        yield f"load average {of}, median {statistics.median(loads):g}; median {seconds:g} s a gate"


def share(count: int, total: int) -> str:
    """Return a share in words, with its interval of 95 %."""
    ends = failing([(count, total)])
    low, high = (100 * (end or 0) for end in (ends.low, ends.high))
    return f"{100 * count / total:.1f} % ({low:.1f} to {high:.1f} %)"


def mean(rows: Sequence[Row]) -> str:
    """Return the mean speed of the gates that have one, relative to the base."""
    speeds = [math.log(row["speed"]) for row in rows if row["speed"]]
    if len(speeds) < 3:  # noqa: PLR2004 - an interval takes more
        return "unknown"
    middle = statistics.mean(speeds)
    half = t_quantile(0.975, len(speeds) - 1) * statistics.stdev(speeds) / len(speeds) ** 0.5
    low, value, high = (100 * math.exp(middle + one) for one in (-half, 0, half))
    return f"{value:.1f} % ({low:.1f} to {high:.1f} %)"


if __name__ == "__main__":
    main()
