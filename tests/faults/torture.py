"""Kill benchforge at seeded random moments, and look at what is left each time.

`python tests/own_place.py python tests/torture.py FOLDER KILLS SEED MINUTES` prints how many kills
fell into which stage, and what was left: exit code 0 when that is nothing. What runs, listens and
is mounted is compared with what there was before, which only a place without others allows. Half
of the kills hit trials in the place's own network. Each run goes on where the one before was
killed, and at the end each planned trial must be there once.
"""

import collections
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from standing import processes, standing

PROGRAMS = Path(__file__).parent / "programs"
LONGEST_S = 5.0  # after the start of which a kill falls: about two trials
GONE_S = 20.0  # after a kill all must be, on a machine that is loud too; how long it took is told
ENDS_S = 120.0
TRIAL_S = 30.0  # on a machine that does much else
CALL = [sys.executable, "-m", "benchforge"]
SUITE = """benchforge = 1
network = "{network}"
[servers.workers]
use = "gunicorn"
app = "zoo:app"
workers = 2
directory = '{programs}'
environment = {{ ZOO = '{programs}' }}
[servers.one]
use = "command"
command = ['{python}', '{programs}/answers.py', "--port", "{{port}}"]
[loaders.pace]
use = "pace"
connections = 2
duration = "500ms"
[scenarios.ping]
request = {{ path = "/ping" }}
servers = ["workers", "one"]
loaders = ["pace"]
[repeat]
quiet = "off"
blocks = {blocks}
seed = {seed}
"""


@dataclass
class Seen:
    """What the kills did."""

    stages: "collections.Counter[str]" = field(default_factory=collections.Counter)
    left: list[str] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    slowest_s: float = 0.0
    trials: int = 0

    @property
    def kills(self) -> int:
        return self.stages.total()

    @property
    def fine(self) -> bool:
        return not self.left and not self.invalid


def torture(folder: Path, kills: int, seed: int, minutes: float) -> Seen:
    """Kill so many runs, or as many as the time allows."""
    seen, moments = Seen(), random.Random(seed)
    for network in ("private", "host"):
        deadline = time.monotonic() + minutes * 60 / 2
        _in_network(network, folder / network, (kills + 1) // 2, moments, deadline, seen)
    return seen


def _in_network(
    network: str, folder: Path, kills: int, moments: random.Random, deadline: float, seen: Seen
) -> None:
    """Kill so many of one suite, and let it end."""
    wanted = seen.kills + kills
    (folder / "t").mkdir(parents=True)
    suite = folder / "torture.toml"
    suite.write_text(
        SUITE.format(
            python=sys.executable,
            programs=PROGRAMS,
            network=network,
            blocks=kills + 3,
            seed=moments.randrange(1 << 30),
        )
    )
    while seen.kills < wanted and time.monotonic() < deadline:
        results = _results(folder)
        words = ["--resume", str(results[-1])] if results else [str(suite)]
        _one(folder, words, moments.uniform(0.0, LONGEST_S), seen)
        _look(folder, seen)
    if results := _results(folder):
        _resumed(folder, results[-1], seen)
    seen.left += _after_a_last_start(folder, suite)
    seen.trials += len(list(folder.glob("results/[!.]*/trials/*/trial.json")))


def _one(folder: Path, words: list[str], after_s: float, seen: Seen) -> None:
    """Start one run, and kill it `after_s` seconds later."""
    before, known = standing(), processes()
    results, trials = len(_results(folder)), {one.stat().st_ino for one in _folders(folder)}
    earlier = _scratch(folder)
    process = subprocess.Popen(
        [*CALL, "run", *words],
        cwd=folder,
        env=_environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(after_s)
    stage = _stage(folder, results, trials)
    seen.stages[stage] += 1
    process.kill()
    process.wait(ENDS_S)
    killed = time.monotonic()
    while (left := standing() - before) and time.monotonic() - killed < GONE_S:
        time.sleep(0.01)
    seen.slowest_s = max(seen.slowest_s, time.monotonic() - killed)
    # What the killed one had is removed by the next start, which leaves its own. Who is killed
    # before the header may not have come to that yet.
    scratch = _scratch(folder)
    seen.left += [*sorted(left), *sorted(scratch - earlier)[1:]]
    if stage != "before the header":
        seen.left += sorted(scratch & earlier)
    for pid in processes() - known:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _stage(folder: Path, results: int, known: set[int]) -> str:
    """What benchforge did at that moment, by what is on the disk since it began."""
    new = [one for one in _folders(folder) if one.stat().st_ino not in known]
    if not new:
        begun = len(_results(folder)) > results
        return "before the first trial" if begun else "before the header"
    running = [one for one in new if not (one / "trial.json").exists()]
    if not running:
        return "between trials"
    names = {one.name for one in running[-1].iterdir()}
    if any(name.startswith("loader-") and name.endswith(".out") for name in names):
        return "load or stop"
    return "start of the server" if any(name.startswith("server-") for name in names) else "keeper"


def _look(folder: Path, seen: Seen) -> None:
    """Every result that has a header is valid, whatever it was doing."""
    for result in _results(folder):
        if (done := _ran(folder, "validate", str(result))).returncode:
            seen.invalid.append(done.stdout.strip())


def _resumed(folder: Path, result: Path, seen: Seen) -> None:
    """Let it end; each planned trial is there once."""
    plan = json.loads((result / "result.json").read_text())["plan"]
    done = _ran(folder, "run", "--resume", str(result), within_s=ENDS_S + TRIAL_S * len(plan))
    if done.returncode:
        seen.invalid.append(f"resume ended with {done.returncode}: {done.stderr}")
    # What a neighbour spoiled is measured again: each attempt is there once.
    attempts = [(*_place(one), one["attempt"]) for one in _trials(result) if not one["failure"]]
    lost = {_place(one) for one in plan} - {attempt[:2] for attempt in attempts}
    if lost or len(set(attempts)) < len(attempts):
        twice = len(attempts) - len(set(attempts))
        seen.invalid.append(f"of {len(plan)} planned {len(lost)} are missing, {twice} there twice")


def _after_a_last_start(folder: Path, suite: Path) -> list[str]:
    """The next start clears the last one's folder away."""
    done = _ran(folder, "run", str(suite), "--time-limit", "0", "-o", str(folder / "last"))
    left = [str(one) for one in (folder / "t").glob("bf-*")]
    return [f"after the last start: {one}\n{done.stderr}" for one in left]


def _ran(folder: Path, *words: str, within_s: float = ENDS_S) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*CALL, *words],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=within_s,
    )


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder / "t")}


def _scratch(folder: Path) -> set[str]:
    return {str(one) for one in (folder / "t").glob("bf-*")}


def _folders(folder: Path) -> list[Path]:
    return sorted(folder.glob("results/[!.]*/trials/*"))


def _results(folder: Path) -> list[Path]:
    return sorted(one.parent for one in folder.glob("results/[!.]*/result.json"))


def _place(one: dict[str, Any]) -> tuple[int, int]:
    return one["block"], one["position"]


def _trials(result: Path) -> list[dict[str, Any]]:
    return [json.loads(one.read_text()) for one in sorted(result.glob("trials/*/trial.json"))]


def told(seen: Seen) -> str:
    """What the kills did, for a person."""
    stages = [f"  {count:4} {stage}" for stage, count in sorted(seen.stages.items())]
    gone = f"all was gone after at most {seen.slowest_s:.2f} s"
    lines = [
        f"{seen.kills} kills; {gone}; {seen.trials} trials kept",
        *stages,
        f"left: {'; '.join(seen.left) or 'nothing'}",
        f"invalid: {'; '.join(seen.invalid) or 'nothing'}",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    came = torture(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    sys.stdout.write(f"{told(came)}\n")
    sys.exit(0 if came.fine else 1)
