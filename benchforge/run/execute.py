"""Walking the plan: each measurement a trial, kept at once, repeated if the apparatus failed."""

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from benchforge.checks.answers.alike import otherwise
from benchforge.errors import InvalidFile, Unusable
from benchforge.model.files.folder import ANSWER, TRIAL
from benchforge.model.suite.search import SearchOutcome
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Failure, Trial
from benchforge.model.values.case_name import CaseName, Identity, identity
from benchforge.parts.content import LARGEST_FILE
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.run.disk.scratch import uninterrupted
from benchforge.run.http.request import Like
from benchforge.run.remaining import Left
from benchforge.run.trial.context import MeasuredTrial, TrialContext, TrialInputs
from benchforge.run.trial.measure import measure
from benchforge.run.trial.turns.launch import measure_in_turns, unready
from benchforge.stats.search.search import following
from benchforge.stats.summary.completeness import given_up, needs_no_more, settled_places
from benchforge.stats.timeseries.noise import Noise, noise_of
from benchforge.stats.turns import seed_of
from benchforge.suite.plan import Measurement, RunGraph
from benchforge.suite.scenarios.search import rated
from benchforge.suite.secrets import redacted_bytes
from benchforge.text import door

_Facts = tuple[dict[str, Like], dict[Identity, Failure]]


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


@dataclass(frozen=True)
class RunInputs:
    """All that decides what a run measures, and how."""

    graph: RunGraph
    context: TrialContext
    keep: ResultWriter
    believe: Callable[[Trial], Sequence[Check]]
    "Returns the checks of a trial."
    judge: Callable[[Trial], SearchOutcome | None]
    "Returns what a trial with its checks gave to its search; None where there is none."
    limits: StopLimits = field(default_factory=StopLimits)
    before: Sequence[Trial] = ()
    "Trials of earlier sessions: they are on disk already."
    enough: Callable[[Sequence[Trial]], bool] = field(default=lambda _: False)
    "Answer whether the blocks that are there are enough; asked between two blocks alone."
    lost: Callable[[Sequence[Trial]], bool] = field(default=lambda _: False)
    "Answer whether attempts of earlier sessions, all that they were to be, gave nothing."


def execute(inputs: RunInputs, progress: Progress) -> Iterator[Trial]:
    """Yield each trial once it is on disk. Raises CannotKeep, and InvalidFile for earlier trials.

    Once noise has spoilt all attempts of a place, and waits for quiet were in vain, nothing is
    repeated or waited for, until a trial was not spoilt. A block that was begun is measured to its
    end. A place that is `lost` is measured again, a new place of a case that is given up is not.
    """
    begun, graph, limits, trials = time.monotonic(), inputs.graph, inputs.limits, [*inputs.before]
    limit_s = math.inf if limits.time_limit_s is None else limits.time_limit_s
    facts: _Facts = _right(trials, inputs.keep), {}
    attempts, done, noise = by_place(trials), settled_places(trials, graph.once), noise_of(trials)
    searched = [trial for trial in trials if trial.search_outcome is not None]
    number = max((trial.number for trial in trials), default=0)
    begun_block = max((trial.block for trial in trials), default=0)
    steps_left, declared_s = len(graph), graph.declared_s  # of all that are left
    remaining, jointly = Left(), set[tuple[int, int]]()  # places that an earlier step measured, too
    for planned in graph:
        next_block = planned.position == 1 and planned.block > max(graph.least, begun_block)
        if next_block and graph.until is not None and inputs.enough(trials):
            return
        steps_left -= 1
        declared_s = max(0.0, declared_s - planned.case.declared_s)  # floats leave a crumb
        step = _with_sought_rate(planned, searched)
        if step is None or (step.block, step.position) in jointly:
            continue  # its search is over, or it was measured together with another
        steps = [step] if step.case.turns is None else list(graph.together(step))
        places = [(each.block, each.position) for each in steps]
        jointly.update(places)
        by_step = [attempts.setdefault(slot, []) for slot in places]
        own_s, attempt, new = step.case.declared_s, max(map(len, by_step)), not any(by_step)
        open_ = any(slot not in done or inputs.lost(attempts[slot]) for slot in places)
        open_ = open_ and not (new and all(given_up(trials, each.case.name) for each in steps))
        _add(remaining, by_step, own_s, open_=open_)
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
            for trial in stored:
                attempts[trial.block, trial.position].append(trial)
            earlier, noise = noise, reduce(Noise.after, stored, noise)
            open_ = not all(needs_no_more(tried, noise, graph.once) for tried in by_step)
            for trial in stored:
                if trial.position != step.position:
                    other = next(each for each in steps if each.position == trial.position)
                    progress.trial(other, trial.number, attempt, left_s)
                remaining.add(trial, own_s, last=not open_)
                _tell(progress, trial, facts, (earlier, noise))
                yield trial
            if limits.fail_fast and not all(trial.measured or _tells(trial) for trial in stored):
                return
            trials += stored
            searched += [trial for trial in stored if trial.search_outcome is not None]


def _with_sought_rate(step: Measurement, trials: Sequence[Trial]) -> Measurement | None:
    """Return a measurement, of a search at its rate; None if that is over. Raises InvalidFile."""
    if (find := step.case.find) is None:
        return step
    rate = following(find, step.case.name, step.block, trials).rate
    if rate is None:
        return None
    driver = rated(step.case.driver, rate, step.block)
    return replace(step, case=step.case._replace(driver=driver))


def _add(remaining: Left, by_step: Sequence[Sequence[Trial]], own_s: float, *, open_: bool) -> None:
    for tried in by_step:
        for trial in tried:
            remaining.add(trial, own_s, last=not open_ and trial is tried[-1])


def _tell(progress: Progress, trial: Trial, facts: _Facts, noise: tuple[Noise, Noise]) -> None:
    reason, (earlier, later) = facts[1].get(identity(trial.case)), noise
    progress.kept(trial, started=reason is None or trial.failure != reason)
    if earlier.repeats != later.repeats:
        progress.noise(trial, lasts=earlier.repeats)


def by_place(trials: Sequence[Trial]) -> dict[tuple[int, int], list[Trial]]:
    """Return the attempts at each place of the plan, block and position, in their order."""
    attempts: dict[tuple[int, int], list[Trial]] = {}
    for trial in sorted(trials, key=lambda trial: trial.attempt):
        attempts.setdefault((trial.block, trial.position), []).append(trial)
    return attempts


def _tells(trial: Trial) -> bool:
    """Whether a trial tells its search something: that the server did not keep up, say."""
    return trial.search_outcome is not None and trial.search_outcome.passed is not None


def _question(case: CaseName) -> str:
    """The request and path variables that all servers of a scenario share."""
    path = {name: value for name, value in case.vary.items() if name.startswith("path.")}
    return f"{case.scenario} {json.dumps(path, sort_keys=True)}"


def _right(trials_before: Sequence[Trial], writer: ResultWriter) -> dict[str, Like]:
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
            hint = "the file was changed: answers cannot be compared with it"
            raise InvalidFile(f"{file}: is not the answer of trial {trial.number}", hint)
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

    `position`: number of the trial before, attempt, longest wait for quiet in seconds. `facts`, to
    which this adds: the right answers, and the failures of cases that are left out of turns.
    """
    (first_number, attempt, wait_s), (right, left_out) = position, facts
    if attempt > 1:
        steps = [step for step in steps if identity(step.case.name) not in left_out]
    planned = []
    for number, step in enumerate(steps, first_number + 1):
        like = right.get(_question(step.case.name)) if step.case.expect.same_body else None
        folder = inputs.keep.trial_folder(number)
        planned.append(TrialInputs(step, folder, number, attempt, like, wait_s))
    first, turns = planned[0], steps[0].case.turns
    if turns is None:
        measured = [measure(first, inputs.context, progress.phase)]
    else:
        seed = seed_of(inputs.graph.seed, first.step.block, turns.group(first.step.case.name))
        measured = measure_in_turns(planned, seed, inputs.context, progress.phase, left_out)
    with uninterrupted():
        pairs = zip(planned, measured, strict=True)
        trials = [_written(inputs, *pair, right) for pair in pairs]
    for trial in trials if turns is not None else ():
        if trial.failure is not None and unready(trial):
            short = {"message": f"left out of turns: {trial.failure.message}", "log": ""}
            left_out.setdefault(identity(trial.case), trial.failure.model_copy(update=short))
    return trials


def _written(
    inputs: RunInputs, planned: TrialInputs, measured: MeasuredTrial, right: dict[str, Like]
) -> Trial:
    """Keep a trial with its checks; the first right answer of a scenario joins `right`."""
    case, folder, writer = planned.step.case.name, planned.folder, inputs.keep
    if measured.body is not None:
        # One that holds a secret would be another without it, and prove nothing.
        if redacted_bytes(measured.body, inputs.context.secrets) == measured.body:
            writer.write(folder / ANSWER, measured.body, "content")  # its name with trial.json
        right.setdefault(_question(case), Like(case.server, measured.body))
    checks = (*measured.trial.checks, *inputs.believe(measured.trial))
    failure = measured.trial.failure or otherwise(checks, case.server)
    trial = measured.trial.model_copy(update={"checks": checks, "failure": failure})
    files = tuple(door.files(folder))
    trial = trial.model_copy(update={"search_outcome": inputs.judge(trial), "files": files})
    writer.write(folder / TRIAL, trial)
    writer.opened(folder)
    return trial
