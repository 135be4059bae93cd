"""What of a result can be computed again from its raw files: one function for each subject."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from benchforge.checks.ask import of_trial
from benchforge.checks.quiet import limits_of
from benchforge.checks.summary import with_checks
from benchforge.errors import BenchforgeError
from benchforge.graph import steps
from benchforge.model.answer import difference
from benchforge.model.faults import beside
from benchforge.model.file import Fault, Parsed
from benchforge.model.folder import read_ceilings
from benchforge.model.frozen import Frozen
from benchforge.model.places import JsonPath
from benchforge.model.result import Header
from benchforge.model.rows import SYSTEM, USAGE
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.registry import Registry
from benchforge.run.execute import ANSWER
from benchforge.run.left import output_of, was_refused
from benchforge.run.reports import stale_reports
from benchforge.stats.observed import recomputed
from benchforge.stats.summarize import summarize
from benchforge.suite.kept import KeptSuite


@dataclass(frozen=True)
class Result:
    """A result as it was read, and the suite that says how."""

    header: Parsed[Header]
    trials: tuple[Parsed[Trial], ...]
    "By number."
    sittings: tuple[Sitting, ...]
    summary: Parsed[Summary] | None
    suite: KeptSuite
    registry: Registry
    ours: bool
    "Whether this very version of benchforge wrote it."


@dataclass(frozen=True)
class Again:
    """A value that a file has, computed again; or why it could not be."""

    file: Parsed[Any]
    path: JsonPath
    value: JsonValue = None
    cannot: str = ""


Recomputation = Callable[[Result], Iterator[Again | Fault]]
"Yields what is to be compared, and what is wrong by itself."


def order(result: Result) -> Iterator[Again | Fault]:
    """The plan's order and its seeds, from the seed of the header."""
    header = result.header.model
    sizes = Counter(case.scenario for case in header.cases)
    blocks = max((one.block for one in header.plan), default=0)
    if len(header.plan) != blocks * len(header.cases):
        said = f"{len(header.plan)} are not {blocks} blocks of {len(header.cases)} cases"
        yield result.header.fault(said, "plan")
        return
    for number, step in enumerate(steps(list(sizes.values()), blocks, header.seed)):
        place = {"block": step.block, "position": step.position, "seed": step.seed}
        for name, value in place.items():
            yield Again(result.header, ("plan", number, name), value)
        yield Again(result.header, ("plan", number, "case"), _plain(header.cases[step.number]))


def places(result: Result) -> Iterator[Again | Fault]:
    """What each trial measured, and its seed, from the plan."""
    plan = {(one.block, one.position): one for one in result.header.model.plan}
    for trial in result.trials:
        planned = plan.get((trial.model.block, trial.model.position))
        if planned is None:
            yield trial.fault("the plan has no such place", "position")
        else:
            yield Again(trial, ("case",), _plain(planned.case))
            yield Again(trial, ("seed",), planned.seed)


def metrics(result: Result) -> Iterator[Again]:
    """The metrics of the header, from the suite's text."""
    for number, (label, metric) in enumerate(result.suite.metrics.items()):
        told: Mapping[str, JsonValue] = {
            "label": label,
            "use": metric.name,
            "options": metric.model_dump(mode="json", by_alias=True),
            "unit": metric.unit,
            "better": metric.better,
        }
        yield Again(result.header, ("metrics", number), dict(told))


def answers(result: Result) -> Iterator[Again | Fault]:
    """The answer before the load, from its body; and whether it is the one that was expected."""
    for trial in result.trials:
        if not trial.model.answers:
            continue
        path, file = ("answers", 0, "sha256"), trial.file.with_name(ANSWER)
        if not beside(trial.file, ANSWER):
            yield Again(trial, path, cannot=f"no {ANSWER} beside the trial")
            continue
        body, answer = file.read_bytes(), trial.model.answers[0]
        yield Again(trial, path, hashlib.sha256(body).hexdigest())
        yield Again(trial, ("answers", 0, "length"), len(body))
        expected = result.suite.expect(trial.model.case)
        wrong = difference(expected, answer, body) if expected is not None else None
        if wrong is not None and trial.model.measured:
            yield trial.fault(f"{ANSWER} is not what the suite expects: {wrong}", "answers", 0)


def readings(result: Result) -> Iterator[Again | Fault]:
    """What the load tool says, from what it printed and wrote."""
    for trial in result.trials:
        refused = was_refused(trial.model)
        if trial.model.reading is None and not refused:
            continue
        try:
            driver = result.suite.driver(trial.model.case)
            output = output_of(trial, driver)
        except (BenchforgeError, OSError) as error:
            yield Again(trial, ("reading",), cannot=str(error))
            continue
        if trial.model.load is not None:
            yield Again(trial, ("load", "at_once"), driver.load().at_once)
        try:
            reading = driver.read(output)
        except Exception as error:  # noqa: BLE001 - a plugin's code, on files of any kind
            if refused:
                yield Again(trial, ("failure", "message"), str(error))
            else:
                yield Again(trial, ("reading",), cannot=str(error) or type(error).__name__)
        else:
            if refused:
                yield trial.fault("its files can be read, and give a reading", "failure", "message")
            yield Again(trial, ("reading",), _plain(reading))


def observations(result: Result) -> Iterator[Again]:
    """What was seen from outside, from the rows of usage.csv and system.csv."""
    for trial in result.trials:
        seen, folder = trial.model.observation, trial.file.parent
        if seen is None or seen.machine is None:
            continue
        try:
            used, system = ((folder / name).read_text() for name in (USAGE, SYSTEM))
            again = recomputed(seen, used, system)
        except (OSError, ValueError) as error:
            yield Again(trial, ("observation",), cannot=str(error))
        else:
            yield Again(trial, ("observation",), _plain(again))


def checks(result: Result) -> Iterator[Again]:
    """What the checks say of each trial; another version may ask otherwise."""
    if not result.ours:
        return
    thresholds = limits_of(result.header.model)
    for trial in result.trials:
        # Of these only the run itself could know.
        own = [one for one in trial.model.checks if one.id in {"quiet", "placement"}]
        again = (*own, *of_trial(trial.model, thresholds))
        yield Again(trial, ("checks",), [_plain(one) for one in again])


def summary(result: Result) -> Iterator[Again]:
    """The summary, from the header and the trials."""
    if result.summary is None:
        return
    trials = [trial.model for trial in result.trials]
    try:
        header, ceilings = result.header.model, read_ceilings(result.header.file.parent)
        again = summarize(header, trials, result.suite.metrics, result.sittings)
        again = with_checks(again, header, trials, limits_of(header), ceilings)
    except BenchforgeError:
        raise
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        yield Again(result.summary, (), cannot=f"{type(error).__name__}: {error}")
    else:
        yield Again(result.summary, (), _plain(again))


def reports(result: Result) -> Iterator[Again | Fault]:
    """What people read; another version may lay it out differently."""
    if result.summary is None or not result.ours:
        return
    trials = [trial.model for trial in result.trials]
    folder = result.header.file.parent
    for trial in result.trials:
        for process in trial.model.processes:
            for name in (process.stdout, process.stderr):
                if not beside(trial.file, name):
                    yield Again(trial, ("processes",), cannot=f"no {name} beside the trial")
                    return
    try:
        found = list(stale_reports(result.summary.model, trials, result.registry, folder))
    except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
        yield Again(result.summary, (), cannot=f"reports: {type(error).__name__}: {error}")
    else:
        yield from found


RECOMPUTATIONS: tuple[Recomputation, ...] = (
    order,
    places,
    metrics,
    answers,
    readings,
    observations,
    checks,
    summary,
    reports,
)
"In this order: what differs first is the cause of what differs later."


def _plain(model: Frozen) -> JsonValue:
    plain: JsonValue = model.model_dump(mode="json", by_alias=True)
    return plain
