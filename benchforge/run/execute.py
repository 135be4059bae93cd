"""Walking the plan: each measurement a trial, kept at once, repeated if the apparatus failed.

What an earlier sitting has kept is walked past: the walk goes on as if it had never ended.
"""

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchforge.checks.alike import otherwise
from benchforge.errors import InvalidFile
from benchforge.graph import START_AND_STOP_S, Measure, RunGraph
from benchforge.model.check import Check
from benchforge.model.find import Sought
from benchforge.model.trial import CaseName, Trial
from benchforge.run import seek
from benchforge.run.ask import Like
from benchforge.run.ground import Ground
from benchforge.run.keep import Keep
from benchforge.run.measure import measure
from benchforge.stats.whole import needs_no_more

ANSWER = "answer.bin"

Believe = Callable[[Trial], Sequence[Check]]
"The checks of a trial."
Enough = Callable[[Sequence[Trial]], bool]
"Whether the whole blocks that are there are enough; asked between two blocks alone."

Judge = Callable[[Trial], Sought | None]
"What a trial with its checks gave to its search; None where there is none."


class Progress(Protocol):
    """Who is told what is done; never while something is measured."""

    def trial(self, step: Measure, number: int, attempt: int, left_s: float) -> None:
        """Hear that a trial starts, and how many seconds are left in all."""

    def phase(self, name: str) -> None:
        """Hear what is done now."""

    def kept(self, trial: Trial) -> None:
        """Hear that a trial is on disk."""


@dataclass(frozen=True)
class Limits:
    """When to stop early."""

    fail_fast: bool = False
    time_limit_s: float | None = None


def execute(
    graph: RunGraph,
    ground: Ground,
    keep: Keep,
    believe: Believe,
    judge: Judge,
    progress: Progress,
    limits: Limits,
    before: Sequence[Trial] = (),
    enough: Enough = lambda _: False,
) -> Iterator[Trial]:
    """Yield each trial once it is on disk; what was measured `before` is there already.

    A block that was begun is measured to its end: `enough` is asked once the graph's fewest blocks
    are whole, and not where an earlier sitting had begun the next one.

    Raises CannotKeep, and InvalidFile for an answer of before that is another than its trial says,
    and for rates of before that its search did not ask for.
    """
    begun = time.monotonic()
    limit_s = math.inf if limits.time_limit_s is None else limits.time_limit_s
    right = _right(before, keep)
    attempts = by_place(before)
    searched = [trial for trial in before if trial.sought is not None]
    beyond: list[float] = []  # what trials took beyond what they declare
    number = max((trial.number for trial in before), default=0)
    trials, begun_block = list(before), max((trial.block for trial in before), default=0)
    left = len(graph)
    declared_s = graph.declared_s  # of all that are left
    for planned in graph:
        next_block = planned.position == 1 and planned.block > max(graph.least, begun_block)
        if next_block and graph.until is not None and enough(trials):
            return
        left -= 1
        declared_s = max(0.0, declared_s - planned.case.declared_s)  # floats leave a crumb
        step = seek.asked(planned, searched)
        if step is None:
            continue  # its search is over
        there = attempts.get((step.block, step.position), [])
        beyond += [max(0.0, trial.seconds - step.case.declared_s) for trial in there]
        attempt, open_ = len(there), not needs_no_more(there)
        while open_:
            attempt += 1
            own = step.case.declared_s + mean(beyond)
            spare_s = limit_s - (time.monotonic() - begun + own)
            if spare_s < 0:
                return
            keep.room()
            number += 1
            progress.trial(step, number, attempt, own + declared_s + mean(beyond) * left)
            trial = _kept(
                step, number, attempt, ground, keep, believe, judge, right, progress, spare_s
            )
            beyond.append(max(0.0, trial.seconds - step.case.declared_s))
            progress.kept(trial)
            yield trial
            if limits.fail_fast and not (trial.measured or _tells(trial)):
                return
            trials.append(trial)
            there = [*there, trial]
            open_ = not needs_no_more(there)
            if trial.sought is not None:
                searched.append(trial)


def by_place(trials: Sequence[Trial]) -> dict[tuple[int, int], list[Trial]]:
    """Return the attempts at each place of the plan, block and position, in their order."""
    found: dict[tuple[int, int], list[Trial]] = {}
    for trial in sorted(trials, key=lambda trial: trial.attempt):
        found.setdefault((trial.block, trial.position), []).append(trial)
    return found


def _tells(trial: Trial) -> bool:
    """Whether a trial tells its search something: that the server did not keep up, say."""
    return trial.sought is not None and trial.sought.passed is not None


def mean(beyond: list[float]) -> float:
    """Return the mean of what trials took beyond what they declare, in seconds."""
    return sum(beyond) / len(beyond) if beyond else START_AND_STOP_S


def _asked(case: CaseName) -> str:
    """What all servers of a scenario are asked alike: its request, and the path's variables."""
    path = {name: value for name, value in case.vary.items() if name.startswith("path.")}
    return f"{case.scenario} {json.dumps(path, sort_keys=True)}"


def _right(before: Sequence[Trial], keep: Keep) -> dict[str, Like]:
    """Return the first right answer of each scenario, as it was kept."""
    right: dict[str, Like] = {}
    for trial in sorted(before, key=lambda trial: trial.number):
        asked = _asked(trial.case)
        file = keep.place(trial.number) / ANSWER
        if asked in right or not trial.answers or not file.exists():
            continue
        body = file.read_bytes()
        if hashlib.sha256(body).hexdigest() != trial.answers[0].sha256:
            raise InvalidFile(
                f"{file}: is not the answer of trial {trial.number}",
                "the file was changed: what others answer cannot be held against it",
            )
        right[asked] = Like(trial.case.server, body)
    return right


def _kept(
    step: Measure,
    number: int,
    attempt: int,
    ground: Ground,
    keep: Keep,
    believe: Believe,
    judge: Judge,
    right: dict[str, Like],
    progress: Progress,
    spare_s: float,
) -> Trial:
    case = step.case
    folder = keep.trial_folder(number)
    asked = _asked(case.name)
    like = right.get(asked) if case.expect.same_body else None
    measured = measure(step, number, attempt, ground, folder, like, progress.phase, spare_s)
    if measured.body is not None:
        keep.write(folder / ANSWER, measured.body)
        # The first right answer of a scenario is what the others are held against.
        right.setdefault(asked, Like(case.name.server, measured.body))
    checks = (*measured.trial.checks, *believe(measured.trial))
    failure = measured.trial.failure or otherwise(checks, case.name.server)
    trial = measured.trial.model_copy(update={"checks": checks, "failure": failure})
    trial = trial.model_copy(update={"sought": judge(trial)})
    keep.write(folder / "trial.json", trial)
    return trial
