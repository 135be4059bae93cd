"""Kill benchforge at seeded random moments, and look at what is left each time.

`python tests/support/own_place.py python tests/faults/torture.py FOLDER KILLS SEED MINUTES WAY...`,
with tests/support on PYTHONPATH, kills so often in each way, in all of them without a name. It
prints how many kills fell into which stage, and what was left: exit code 0 when that is nothing.
What runs, listens, is mounted and lies in shared memory is compared with what there was before,
which only a place without others allows; its /dev/shm has 2 MB, as in a container. Trials on the
place's own network, and trials that are refused namespaces, are ways of their own: the shared
memory of the latter goes with the next start. Each run goes on where the one before was killed, and
at the end each planned trial must be there once. `calibrate` and `serve` leave no result.
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
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.standing import processes, shared_memory, standing
from front_door import captured
from suite_texts.files import suite_text
from users import WITHOUT_NAMESPACES

from benchforge.cli.console.reported import Shown, exit_code
from benchforge.model.files.folder import read_summary
from benchforge.run.sandbox import mounts

PROGRAMS = Path(__file__).parents[1] / "programs"
LONGEST_S = 5.0  # after the start of which a kill falls: about two trials
FROM_TRIAL = 0.8  # of the kills are timed from the begin of the first trial
GONE_S = 20.0  # after a kill all must be, on a machine that is loud too; how long it took is told
ENDS_S = 120.0
TRIAL_S = 30.0  # on a machine that does much else
CALL = [sys.executable, "-m", "benchforge"]
MS_REMOUNT = 0x20


@dataclass(frozen=True)
class Way:
    """How benchforge is called."""

    network: str = "private"
    before: Sequence[str] = ()
    "Words of a program that starts it."
    repeat: str = ""
    words: Sequence[str] = ()
    "Command that leaves no result; a run without."
    folders: int = 2
    "Most scratch folders at a time: one for each trial, and that in which a template is filled."


WAYS = {
    "alone": Way(),
    "network": Way(network="host"),
    "refused": Way(before=WITHOUT_NAMESPACES),
    "turns": Way(repeat='interleave = "50ms"\neach = "500ms"', folders=3),
    "calibrate": Way(words=("calibrate", "--seconds", "1", "--rounds", "9")),
    "serve": Way(words=("serve", "torture.toml", "workers"), folders=3),
}
STAGES = {
    "load": ("wrk", "pace_main"),
    "server": ("gunicorn", "null_server"),
    "keeper": ("keeper",),
}
"What benchforge does where it leaves no result, by words of the processes that it started."
BEGINS = "before the header"


@dataclass
class Seen:
    """What the kills did."""

    stages: "collections.Counter[str]" = field(default_factory=collections.Counter)
    resumed: list[int] = field(default_factory=list)
    "Exit codes of runs that were resumed and ended by themselves."
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


def torture(folder: Path, way: Way, kills: int, seed: int, minutes: float) -> Seen:
    """Kill so many calls, or as many as the time allows, and let the last one end."""
    observed, moments = Seen(), random.Random(seed)
    deadline = time.monotonic() + minutes * 60
    (folder / "t").mkdir(parents=True)
    suite = folder / "torture.toml"
    holes = {"network": way.network, "repeat": way.repeat, "blocks": kills + 3}
    text = suite_text("faults/torture", seed=moments.randrange(1 << 30), **holes)
    suite.write_text(text)
    while observed.kills < kills and time.monotonic() < deadline:
        results = _results(folder)
        run = ("run", *(("--resume", str(results[-1])) if results else (str(suite),)))
        # On a loud machine a start takes longer than a trial: most kills wait for one to begin.
        from_trial = moments.random() < FROM_TRIAL
        after_s = moments.uniform(0.0, LONGEST_S)
        _one(folder, way, way.words or run, after_s, observed, from_trial=from_trial)
        _look(folder, observed)
    if results := _results(folder):
        _resumed(folder, way.before, results[-1], observed)
    observed.left += _after_a_last_start(folder, way.before, suite)
    observed.trials += len(list(folder.glob("results/[!.]*/trials/*/trial.json")))
    return observed


def _one(
    folder: Path,
    way: Way,
    words: Sequence[str],
    after_s: float,
    observed: Seen,
    *,
    from_trial: bool,
) -> None:
    """Start one call, and kill it `after_s` seconds later, or after its first trial."""
    first, known_values = standing(), processes()
    results, trials = len(_results(folder)), set(_folders(folder))
    earlier, shared = _scratch(folder), shared_memory()
    line, null = [*way.before, *CALL, *words], subprocess.DEVNULL
    process = subprocess.Popen(line, cwd=folder, env=_environment(folder), stdout=null, stderr=null)
    deadline = time.monotonic() + ENDS_S
    while from_trial and process.poll() is None and time.monotonic() < deadline:
        begun = _of_processes(first) != BEGINS if way.words else _folders(folder).keys() - trials
        from_trial = not begun
        time.sleep(0.01)
    time.sleep(after_s)
    stage = _of_processes(first) if way.words else _stage(folder, results, trials)
    observed.stages[stage] += 1
    ended = process.poll()
    process.kill()
    process.wait(ENDS_S)
    if ended not in {None, 0, 4}:  # it measured all that was left, and had an answer or not
        observed.invalid.append(f"{' '.join(words)}: ended with {ended} before it was killed")
    killed = time.monotonic()
    while (leftovers := standing() - first) and time.monotonic() - killed < GONE_S:
        time.sleep(0.01)
    observed.slowest_s = max(observed.slowest_s, time.monotonic() - killed)
    # What the killed one had is removed by the next start, which leaves its own. Who is killed
    # before the header may not have come to that yet.
    scratch = _scratch(folder)
    observed.left += [*sorted(leftovers), *sorted(scratch - earlier)[way.folders :]]
    if stage != BEGINS:
        observed.left += sorted(scratch & earlier)
        observed.left += sorted(shared_memory() & shared)
    if way.before != WITHOUT_NAMESPACES:
        observed.left += sorted(shared_memory() - shared)
    for pid in processes() - known_values:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    # The next start clears away what nobody holds: not while these still end.
    while processes() - known_values and time.monotonic() - killed < 2 * GONE_S:
        time.sleep(0.01)


def _of_processes(first: set[str]) -> str:
    """What benchforge did at that moment, by the processes that were not there before."""
    lines = [line for line in standing() - first if line.startswith("process ")]
    stages = (
        stage for stage, words in STAGES.items() for word in words for line in lines if word in line
    )
    return next(stages, BEGINS)


def _stage(folder: Path, results: int, known_values: set[int]) -> str:
    """What benchforge did at that moment, by what is on the disk since it began."""
    new = [path for inode, path in _folders(folder).items() if inode not in known_values]
    if not new:
        begun = len(_results(folder)) > results
        return "before the first trial" if begun else BEGINS
    running = [item for item in new if not (item / "trial.json").exists()]
    if not running:
        return "between trials"
    names = {path.name for path in running[-1].glob("*")}  # nothing where it has just gone
    if any(name.startswith("loader-") and name.endswith(".out") for name in names):
        return "load or stop"
    return "start of the server" if any(name.startswith("server-") for name in names) else "keeper"


def _look(folder: Path, observed: Seen) -> None:
    """Every result that has a header is valid, whatever it was doing."""
    for result in _results(folder):
        if (done := _ran(folder, "validate", str(result))).returncode:
            observed.invalid.append(done.stdout.strip())


def _resumed(folder: Path, first: Sequence[str], result: Path, observed: Seen) -> None:
    """Let it end; each planned trial is there once."""
    plan = json.loads((result / "result.json").read_text())["plan"]
    within_s = ENDS_S + TRIAL_S * len(plan)
    done = _ran(folder, "run", "--resume", str(result), first=first, within_s=within_s)
    observed.resumed.append(done.returncode)
    # 4 only where the summary has no answer that may be believed: on a loud machine.
    if done.returncode not in {0, 4} or done.returncode != exit_code(read_summary(result), Shown()):
        observed.invalid.append(f"resume ended with {done.returncode}: {done.stderr}")
    # What a neighbour spoiled is measured again: each attempt is there once.
    attempts = [
        (*_place(trial), trial["attempt"]) for trial in _trials(result) if not trial["failure"]
    ]
    lost = {_place(item) for item in plan} - {attempt[:2] for attempt in attempts}
    twice = len(attempts) - len(set(attempts))
    if lost or twice:
        says = f"of {len(plan)} planned {len(lost)} are missing, {twice} there twice"
        observed.invalid.append(says)


def _after_a_last_start(folder: Path, first: Sequence[str], suite: Path) -> list[str]:
    """The next start clears the last one's folder away."""
    words = ("run", str(suite), "--time-limit", "0", "-o", str(folder / "last"))
    done = _ran(folder, *words, first=first)
    scratch = [*_scratch(folder), *shared_memory()]
    return [f"after the last start: {item}\n{done.stderr}" for item in scratch]


def _ran(
    folder: Path, *words: str, first: Sequence[str] = (), within_s: float = ENDS_S
) -> "subprocess.CompletedProcess[str]":
    return captured([*first, *CALL, *words], cwd=folder, env=_environment(folder), timeout=within_s)


def _environment(folder: Path) -> dict[str, str]:
    """Return that of a user: what the tests share is for this file only."""
    mine = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**mine, "TMPDIR": str(folder / "t")}


def _scratch(folder: Path) -> set[str]:
    return {str(path) for path in (folder / "t").glob("bf-*")}


def _folders(folder: Path) -> dict[int, Path]:
    """Return the folders of trials by inode; a resumed run removes one while we look."""
    numbered = {}
    for path in sorted(folder.glob("results/[!.]*/trials/*")):
        with contextlib.suppress(FileNotFoundError):
            numbered[path.stat().st_ino] = path
    return numbered


def _results(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("results/[!.]*/result.json"))


def _place(item: dict[str, Any]) -> tuple[int, int]:
    return item["block"], item["position"]


def _trials(result: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(result.glob("trials/*/trial.json"))]


def told(observed: Seen) -> str:
    """What the kills did, for a person."""
    stages = [f"  {count:4} {stage}" for stage, count in sorted(observed.stages.items())]
    gone = f"all was gone after at most {observed.slowest_s:.2f} s"
    lines = [
        f"{observed.kills} kills; {gone}; {observed.trials} trials kept",
        *stages,
        f"resumed, exit codes: {', '.join(map(str, observed.resumed)) or 'none'}",
        f"left: {'; '.join(observed.left) or 'nothing'}",
        f"invalid: {'; '.join(observed.invalid) or 'nothing'}",
    ]
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Torture as the words say."""
    folder, kills, seed, minutes, *ways = words
    mounts.mount("none", mounts.SHARED_MEMORY, "tmpfs", MS_REMOUNT, "size=2m")
    came = []
    for name in ways or WAYS:
        came.append(torture(Path(folder) / name, WAYS[name], int(kills), int(seed), float(minutes)))
        sys.stdout.write(f"{name}: {told(came[-1])}\n")
        sys.stdout.flush()
    return 0 if all(observed.fine for observed in came) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
