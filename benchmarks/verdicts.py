"""How often benchforge is wrong where the truth is known: on this machine, with real processes.

    .venv/bin/python benchmarks/verdicts.py [RUNS] >docs/false-verdicts.md
    .venv/bin/python benchmarks/verdict_models.py >>docs/false-verdicts.md

First a suite whose two servers are one and the same, RUNS times (20): each answer that one serves
more than the other is a false one. Then a server with a planted delay, in 15 blocks: from how many
of them on the verdict says so. Shown is a page in Markdown; judged is nothing. The
second command adds simulated runs.
"""

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchforge.checks.summary import concluded
from benchforge.cli.machine.calibrate.command import between_neighbours, shown
from benchforge.model.files.calibration import Calibration
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.run.machine.calibration import kept
from benchforge.suite.load import load

RUNS = 20
BLOCKS = 5
MOST = 15
LEAST = 3
WORK_S = 0.002
DELAYS = (0.02, 0.05, 0.10)
"Shares of the work that are added to it."
ALIKE = {"more": "a > b", "less": "a < b", "same": "a == b +- 10%"}

APP = """
import os, time
WORK_S = float(os.environ["WORK_S"])

def application(environ, start_response):
    time.sleep(WORK_S)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
"""
SUITE = """
benchforge = 1
name = "{name}"
{servers}
[loaders.wrk]
use = "wrk"
connections = 4
threads = 1
duration = "1s"
[scenarios.pong]
servers = {labels}
loaders = ["wrk"]
expect = {{ body = "pong" }}
[repeat]
blocks = {blocks}
{claims}
"""
SERVER = """
[servers.{label}]
use = "gunicorn"
app = "pong:application"
directory = "."
workers = 1
environment = {{ WORK_S = "{seconds:.6f}" }}
"""
CLAIM = """
[claims.{label}]
scenario = "pong"
metric = "throughput"
a = {{ server = "{a}" }}
b = {{ server = "{b}" }}
holds = "{holds}"
"""


Said = dict[int, Summary]
"What is said after so many blocks."


def main() -> None:
    """Measure and print a page; judge nothing."""
    runs = int(sys.argv[1]) if sys.argv[1:] else RUNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pong.py").write_text(APP)
        alike = [told(run(folder, same()), f"{one + 1} of {runs}") for one in range(runs)]
        late = {delay: told(run(folder, delayed(delay)), f"{delay:.0%} late") for delay in DELAYS}
    print("\n".join(page(alike, late)), end="\n\n")


def same() -> str:
    """Return the suite that asks whether a server is itself."""
    servers = "".join(SERVER.format(label=label, seconds=WORK_S) for label in ("one", "two"))
    claims = "".join(CLAIM.format(label=of, a="one", b="two", holds=ALIKE[of]) for of in ALIKE)
    return SUITE.format(
        name="alike", servers=servers, labels=["one", "two"], blocks=BLOCKS, claims=claims
    )


def delayed(delay: float) -> str:
    """Return the suite of a server whose work takes longer by this share."""
    servers = SERVER.format(label="plain", seconds=WORK_S)
    servers += SERVER.format(label="late", seconds=WORK_S * (1 + delay))
    claims = CLAIM.format(label="more", a="plain", b="late", holds="a > b")
    return SUITE.format(
        name="late", servers=servers, labels=["plain", "late"], blocks=MOST, claims=claims
    )


def run(folder: Path, suite: str) -> Said:
    """Return what is said after each number of blocks from 3 on, measured by the real command."""
    file = folder / "suite.toml"
    file.write_text(suite)
    with tempfile.TemporaryDirectory(dir=folder) as results:
        words = [sys.executable, "-m", "benchforge", "run", str(file), "-o", results]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode not in {0, 1, 4}:
            sys.exit(done.stdout + done.stderr)
        (result,) = Path(results).iterdir()
        header = Header.model_validate_json((result / "result.json").read_bytes())
        trials = [
            Trial.model_validate_json(one.read_bytes())
            for one in result.glob("trials/*/trial.json")
        ]
    metrics = load(file, Registry()).metrics
    most = max(trial.block for trial in trials)
    return {
        blocks: concluded(header, [one for one in trials if one.block <= blocks], metrics)
        for blocks in range(LEAST, most + 1)
    }


def told(said: Said, what: str) -> Said:
    """Say that a run has ended, and return what it said."""
    last = said[max(said)].verdicts
    print(f"{what}: {', '.join(f'{one.claim} {one.state}' for one in last)}", file=sys.stderr)
    return said


def page(alike: Sequence[Said], late: Mapping[float, Said]) -> Iterator[str]:
    """Yield the page."""
    last = [said[max(said)] for said in alike]
    yield "# How often a verdict is false\n"
    yield (
        "`benchmarks/verdicts.py` measured these figures once, with servers whose true "
        "difference is\n"
        f"known, on a shared machine with {last[0].facts.get('cpus')} CPUs: gunicorn with one "
        "worker "
        f"whose app sleeps {WORK_S * 1000:g} ms,\nunder wrk with 4 connections, one second per "
        "trial. "
        "Other machines have other noise;\n`benchforge calibrate` measures that of yours.\n"
    )
    yield calibrated()
    yield "## The same server twice\n"
    wrong = f"{sum(map(differs, last))} of {len(last)} runs has one"
    yield (
        f"{len(last)} runs of {BLOCKS} blocks. A verdict is false if it finds that one serves more "
        f"than the other: {wrong}.\n"
    )
    yield "| claim | holds | fails | inconclusive | invalid |\n|---|---|---|---|---|"
    for label, holds in ALIKE.items():
        found = Counter(one.state for each in last for one in each.verdicts if one.claim == label)
        counts = (str(found[of]) for of in ("holds", "fails", "inconclusive", "invalid"))
        yield f"| `{holds}` | {' | '.join(counts)} |"
    yield "\n## A planted delay\n"
    yield (
        f"{MOST} blocks each. The table gives the verdicts after each number of blocks on `more`: "
        "the delayed server serves less.\n"
    )
    yield "| planted | measured | first found after | and from then on |\n|---|---|---|---|"
    for delay, said in late.items():
        seen = {blocks: differs(each) for blocks, each in said.items()}
        first = next((blocks for blocks, yes in seen.items() if yes), None)
        rest = [yes for blocks, yes in seen.items() if first and blocks >= first]
        stays = f"{sum(rest)} of {len(rest)}" if rest else ""
        yield f"| {delay:.0%} | {effect(said[max(said)])} | {first or 'never'} | {stays} |"


def calibrated() -> str:
    """Return what this machine can show, as it was calibrated."""
    match kept():
        case Calibration() as found:
            sd = between_neighbours(found.per_second)
            least = ", ".join(f"{100 * by:.1f} % by {n} blocks" for n, by in shown(sd).items())
            return (
                f"Calibration of {found.created:%Y-%m-%d}: on the idle machine, one round of "
                f"{found.loader}\n"
                f"differs from the next by {100 * sd:.1f} %. At best, the machine shows a "
                "difference of\n"
                f"{least} in 80 % of cases.\n"
            )
        case _:
            return "This machine is not calibrated.\n"


def differs(summary: Summary) -> bool:
    """Whether one is said to serve more than the other."""
    return any(one.claim in {"more", "less"} and one.state == "holds" for one in summary.verdicts)


def effect(summary: Summary) -> str:
    """Return the ratio with its interval, or why there is none."""
    found = summary.verdicts[0].estimate
    if found.value is None or found.low is None or found.high is None:
        return found.why
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


if __name__ == "__main__":
    main()
