"""Walking the plan: each measurement a trial, kept at once, repeated if the apparatus failed."""

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from benchforge.graph import START_AND_STOP_S, Measure, RunGraph
from benchforge.model.trial import Trial
from benchforge.run.ask import Like
from benchforge.run.ground import Ground
from benchforge.run.keep import Keep
from benchforge.run.measure import measure
from benchforge.suite.case import Case

ATTEMPTS = 3


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
    graph: RunGraph, ground: Ground, keep: Keep, progress: Progress, limits: Limits
) -> Iterator[Trial]:
    """Yield each trial once it is on disk. Raises CannotKeep."""
    begun = time.monotonic()
    limit_s = math.inf if limits.time_limit_s is None else limits.time_limit_s
    right: dict[str, Like] = {}
    beyond: list[float] = []  # what trials took beyond what they declare
    number = 0
    left = len(graph)
    declared_s = graph.declared_s  # of all that are left
    for step in graph:
        attempt, spoiled = 0, True
        while spoiled and attempt < ATTEMPTS:
            attempt += 1
            own = step.case.declared_s + mean(beyond)
            spare_s = limit_s - (time.monotonic() - begun + own)
            if spare_s < 0:
                return
            number += 1
            progress.trial(step, number, attempt, declared_s + mean(beyond) * left)
            trial = _kept(step, number, attempt, ground, keep, right, progress, spare_s)
            beyond.append(max(0.0, trial.seconds - step.case.declared_s))
            progress.kept(trial)
            yield trial
            if limits.fail_fast and not trial.measured:
                return
            spoiled = trial.failure is not None and trial.failure.about == "apparatus"
        left -= 1
        declared_s = max(0.0, declared_s - step.case.declared_s)  # floats leave a crumb


def mean(beyond: list[float]) -> float:
    """Return the mean of what trials took beyond what they declare, in seconds."""
    return sum(beyond) / len(beyond) if beyond else START_AND_STOP_S


def _asked(case: Case) -> str:
    """What all servers of a scenario are asked alike: its request, and the path's variables."""
    path = {name: value for name, value in case.name.vary.items() if name.startswith("path.")}
    return f"{case.name.scenario} {json.dumps(path, sort_keys=True)}"


def _kept(
    step: Measure,
    number: int,
    attempt: int,
    ground: Ground,
    keep: Keep,
    right: dict[str, Like],
    progress: Progress,
    spare_s: float,
) -> Trial:
    case = step.case
    folder = keep.trial_folder(number)
    asked = _asked(case)
    like = right.get(asked) if case.expect.same_body else None
    measured = measure(step, number, attempt, ground, folder, like, progress.phase, spare_s)
    if measured.body is not None:
        keep.write(folder / "answer.bin", measured.body)
        # The first right answer of a scenario is what the others are held against.
        right.setdefault(asked, Like(case.name.server, measured.body))
    keep.write(folder / "trial.json", measured.trial)
    return measured.trial
