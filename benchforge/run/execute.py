"""Walking the plan: each measurement a trial, kept at once, repeated if the apparatus failed.

What an earlier session has kept is walked past: the walk goes on as if it had never ended.
"""

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from benchforge.checks.answers.alike import otherwise
from benchforge.errors import InvalidFile, Unusable
from benchforge.model.files.folder import ANSWER, TRIAL
from benchforge.model.suite.search import SearchOutcome
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Failure, Trial
from benchforge.model.values.case_name import CaseName, Identity, identity
from benchforge.parts.content import LARGEST_FILE
from benchforge.run import next_rate
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.run.disk.scratch import uninterrupted
from benchforge.run.http.request import Like
from benchforge.run.remaining import Left
from benchforge.run.trial.context import TrialContext
from benchforge.run.trial.inputs import MeasuredTrial, TrialInputs
from benchforge.run.trial.measure import measure
from benchforge.run.trial.turns.launch import measure_in_turns, unready
from benchforge.stats.summary.completeness import given_up, needs_no_more, settled_places
from benchforge.stats.timeseries.noise import Noise, noise_of
from benchforge.stats.turns import seed_of
from benchforge.suite.plan import Measurement, RunGraph
from benchforge.suite.secrets import redacted_bytes
from benchforge.text import door

Believe = Callable[[Trial], Sequence[Check]]
"The checks of a trial."
Enough = Callable[[Sequence[Trial]], bool]
"Whether the whole blocks that are there are enough; asked between two blocks alone."

Lost = Callable[[Sequence[Trial]], bool]
"Whether attempts of earlier sessions, all that they were to be, gave nothing."

_Facts = tuple[dict[str, Like], dict[Identity, Failure]]
Judge = Callable[[Trial], SearchOutcome | None]
"What a trial with its checks gave to its search; None where there is none."


class Progress:
    """Hears what is done, never while something is measured; by itself it says nothing."""

    def trial(self, step: Measurement, number: int, attempt: int, left_s: float) -> None:
        """Hear that a trial starts, and how many seconds are left in all."""

    def phase(self, name: str) -> None:
        """Hear what is done now."""

    def kept(self, trial: Trial, *, started: bool) -> None:
        """Hear that a trial is on disk; one that was left out of a launch did not start."""

    def noise(self, trial: Trial, *, lasts: bool) -> None:
        """Hear that noise does not end, so that nothing waits for it; or that it did after all."""


@dataclass(frozen=True)
class StopLimits:
    """When to stop early."""

    fail_fast: bool = False
    time_limit_s: float | None = None


def _never(_: Sequence[Trial]) -> bool:
    return False


@dataclass(frozen=True)
class RunInputs:
    """All that decides what a run measures, and how."""

    graph: RunGraph
    context: TrialContext
    keep: ResultWriter
    believe: Believe
    judge: Judge
    limits: StopLimits = field(default_factory=StopLimits)
    before: Sequence[Trial] = ()
    "Trials of earlier sessions: they are on disk already."
    enough: Enough = _never
    lost: Lost = _never


def execute(inputs: RunInputs, progress: Progress) -> Iterator[Trial]:
    """Yield each trial once it is on disk.

    Once noise has spoilt all attempts of a place, and waits for quiet were in vain, nothing is
    repeated for noise, and each trial only looks whether it is quiet, until one was not spoilt.

    A block that was begun is measured to its end: `enough` is asked once the graph's fewest blocks
    are whole, and not where an earlier session had begun the next one. A place that is `lost` is
    measured again; a new place of a case that is given up is not measured.

    Raises CannotKeep, and InvalidFile for an answer of before that is another than its trial says,
    and for rates of before that its search did not ask for.
    """
    begun = time.monotonic()
    graph, limits, trials_before = inputs.graph, inputs.limits, inputs.before
    limit_s = math.inf if limits.time_limit_s is None else limits.time_limit_s
    facts: _Facts = _right(trials_before, inputs.keep), {}
    attempts, done = by_place(trials_before), settled_places(trials_before, graph.once)
    searched = [trial for trial in trials_before if trial.search_outcome is not None]
    remaining, noise, trials = Left(), noise_of(trials_before), list(trials_before)
    number = max((trial.number for trial in trials), default=0)
    begun_block = max((trial.block for trial in trials), default=0)
    steps_left = len(graph)
    declared_s = graph.declared_s  # of all that are left
    jointly: set[tuple[int, int]] = set()  # places that a trial before them has measured, too
    for planned in graph:
        next_block = planned.position == 1 and planned.block > max(graph.least, begun_block)
        if next_block and graph.until is not None and inputs.enough(trials):
            return
        steps_left -= 1
        declared_s = max(0.0, declared_s - planned.case.declared_s)  # floats leave a crumb
        step = next_rate.with_sought_rate(planned, searched)
        if step is None or (step.block, step.position) in jointly:
            continue  # its search is over, or it was measured together with another
        steps = [step] if step.case.turns is None else list(graph.together(step))
        places = [(step.block, step.position) for step in steps]
        jointly.update(places)
        by_step = [attempts.get(slot, []) for slot in places]
        own_s = step.case.declared_s
        open_ = any(
            slot not in done or inputs.lost(trials_at)
            for slot, trials_at in zip(places, by_step, strict=True)
        ) and (any(by_step) or not all(given_up(trials, step.case.name) for step in steps))
        _add(remaining, by_step, own_s, open_=open_)
        attempt = max(map(len, by_step))
        while open_:
            attempt += 1
            takes_s = len(steps) * own_s + remaining.start_and_stop_s
            spare_s = limit_s - (time.monotonic() - begun + takes_s)
            if spare_s < 0:
                return
            inputs.keep.room()
            wanted_s = remaining.once_s(own_s, noise) + remaining.of(steps_left, declared_s, noise)
            progress.trial(step, number + 1, attempt, left_s := min(wanted_s, takes_s + spare_s))
            wait_s = spare_s if noise.waits else 0.0
            stored = _kept(inputs, steps, (number, attempt, wait_s), facts, progress)
            number += len(stored)
            by_step = [
                [*trials_at, *(trial for trial in stored if trial.position == slot.position)]
                for slot, trials_at in zip(steps, by_step, strict=True)
            ]
            before_it, noise = noise, reduce(Noise.after, stored, noise)
            open_ = not all(needs_no_more(trials_at, noise, graph.once) for trials_at in by_step)
            for trial in stored:
                if trial.position != step.position:
                    progress.trial(_planned(steps, trial), trial.number, attempt, left_s)
                remaining.add(trial, own_s, last=not open_)
                _tell(progress, trial, facts[1], (before_it, noise))
                yield trial
            if limits.fail_fast and not all(trial.measured or _tells(trial) for trial in stored):
                return
            trials += stored
            searched += [trial for trial in stored if trial.search_outcome is not None]


def _add(remaining: Left, by_step: Sequence[Sequence[Trial]], own_s: float, *, open_: bool) -> None:
    for trials_at in by_step:
        for trial in trials_at:
            remaining.add(trial, own_s, last=not open_ and trial is trials_at[-1])


def _tell(
    progress: Progress,
    trial: Trial,
    left_out: Mapping[Identity, Failure],
    noise: tuple[Noise, Noise],
) -> None:
    reason, (earlier, later) = left_out.get(identity(trial.case)), noise
    progress.kept(trial, started=reason is None or trial.failure != reason)
    if earlier.repeats != later.repeats:
        progress.noise(trial, lasts=earlier.repeats)


def by_place(trials: Sequence[Trial]) -> dict[tuple[int, int], list[Trial]]:
    """Return the attempts at each place of the plan, block and position, in their order."""
    attempts: dict[tuple[int, int], list[Trial]] = {}
    for trial in sorted(trials, key=lambda trial: trial.attempt):
        attempts.setdefault((trial.block, trial.position), []).append(trial)
    return attempts


def _planned(steps: Sequence[Measurement], trial: Trial) -> Measurement:
    return next(step for step in steps if step.position == trial.position)


def _in_short(failure: Failure) -> Failure:
    """Return why a server that did not start is left out of the launches that follow."""
    message = f"left out of turns: {failure.message}"
    return failure.model_copy(update={"message": message, "log": ""})


def _tells(trial: Trial) -> bool:
    """Whether a trial tells its search something: that the server did not keep up, say."""
    return trial.search_outcome is not None and trial.search_outcome.passed is not None


def _question(case: CaseName) -> str:
    """What all servers of a scenario are asked alike: its request, and the path's variables."""
    path = {name: value for name, value in case.vary.items() if name.startswith("path.")}
    return f"{case.scenario} {json.dumps(path, sort_keys=True)}"


def _right(trials_before: Sequence[Trial], writer: ResultWriter) -> dict[str, Like]:
    """Return the first right answer of each scenario, as it was kept."""
    right: dict[str, Like] = {}
    for trial in sorted(trials_before, key=lambda trial: trial.number):
        question = _question(trial.case)
        trial_folder = writer.place(trial.number).relative_to(writer.folder)
        file = writer.folder / trial_folder / ANSWER
        if question in right or not trial.answers or not os.path.lexists(file):
            continue
        try:
            body = door.read(writer.folder, str(trial_folder / ANSWER), LARGEST_FILE)
        except OSError as error:
            raise Unusable(f"{file}: {error.strerror}") from error
        if hashlib.sha256(body).hexdigest() != trial.answers[0].content_sha256:
            raise InvalidFile(
                f"{file}: is not the answer of trial {trial.number}",
                "the file was changed: answers cannot be compared with it",
            )
        right[question] = Like(trial.case.server, body)
    return right


def _kept(
    inputs: RunInputs,
    steps: Sequence[Measurement],
    position: tuple[int, int, float],
    facts: _Facts,
    progress: Progress,
) -> list[Trial]:
    """Measure a trial, or those that take turns, and keep them; of several none alone.

    `position`: the number of the trial before, the attempt, the longest wait for quiet in seconds.
    `facts` are the right answers, and why a case is left out of turns; this adds to both. What is
    left out has no other attempt.
    """
    (first_number, attempt, wait_s), (right, left_out) = position, facts
    if attempt > 1:
        steps = [step for step in steps if identity(step.case.name) not in left_out]
    planned = [
        TrialInputs(
            step,
            inputs.keep.trial_folder(number),
            number,
            attempt,
            right.get(_question(step.case.name)) if step.case.expect.same_body else None,
            wait_s,
        )
        for number, step in enumerate(steps, first_number + 1)
    ]
    first, turns = planned[0], steps[0].case.turns
    if turns is None:
        measured = [measure(first, inputs.context, progress.phase)]
    else:
        group = turns.group(first.step.case.name)
        seed = seed_of(inputs.graph.seed, first.step.block, group)
        measured = measure_in_turns(planned, seed, inputs.context, progress.phase, left_out)
    with uninterrupted():
        trials = [
            _written(inputs, planned_trial, of_one, right)
            for planned_trial, of_one in zip(planned, measured, strict=True)
        ]
    for trial in trials if turns is not None else ():
        if trial.failure is not None and unready(trial):
            left_out.setdefault(identity(trial.case), _in_short(trial.failure))
    return trials


def _written(
    inputs: RunInputs, planned: TrialInputs, measured: MeasuredTrial, right: dict[str, Like]
) -> Trial:
    """Keep a trial with its checks; its answer joins the `right` ones if it is the first."""
    case, folder, writer = planned.step.case.name, planned.folder, inputs.keep
    if measured.body is not None:
        # One that holds a secret would be another without it, and prove nothing.
        if redacted_bytes(measured.body, inputs.context.secrets) == measured.body:
            writer.write(folder / ANSWER, measured.body)
        # The first right answer of a scenario is what the others are held against.
        right.setdefault(_question(case), Like(case.server, measured.body))
    checks = (*measured.trial.checks, *inputs.believe(measured.trial))
    failure = measured.trial.failure or otherwise(checks, case.server)
    trial = measured.trial.model_copy(update={"checks": checks, "failure": failure})
    files = tuple(door.files(folder))
    trial = trial.model_copy(update={"search_outcome": inputs.judge(trial), "files": files})
    writer.write(folder / TRIAL, trial)
    writer.opened(folder)
    return trial
