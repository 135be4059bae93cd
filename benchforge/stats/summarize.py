"""From the trials to what a result says: every value, the median and the spread."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchforge.errors import InvalidFile
from benchforge.model.pivot import crowded
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import CaseSummary, Comparison, DoubtedTrial, FailedTrial, Summary
from benchforge.model.trial import CaseName, Failure, Trial
from benchforge.model.window import Settled, Window
from benchforge.parts.part import Metric
from benchforge.stats.groups import groups, shared
from benchforge.stats.line import lines
from benchforge.stats.windows import of_case, settled, together

Identity = tuple[str, str, str, str, int]

_NO_REASON = Failure(
    stage="read",
    message="the trial has neither a reading nor a reason",
    hint="see what its processes printed, beside trial.json",
    about="apparatus",
)


def summarize(
    header: Header,
    trials: Sequence[Trial],
    metrics: Mapping[str, Metric],
    sittings: Sequence[Sitting] = (),
) -> Summary:
    """Return what the trials say, case by case in the order of the suite.

    Raises InvalidFile for a trial whose case the header does not know, and for a table that has
    several cases in one cell.
    """
    _check_tables(header)
    by_case = _by_case(header, trials)
    comparisons = tuple(_comparison(group, by_case) for group in groups(header.cases))
    found = {
        identity(case): one
        for group in comparisons
        for case, one in zip(group.cases, group.settled, strict=True)
    }
    windows = {
        identity(case): of_case(one, group.window)
        for group in comparisons
        for case, one in zip(group.cases, group.settled, strict=True)
    }
    planned = Counter(identity(one.case) for one in header.plan)
    return Summary(
        name=header.name,
        title=header.title,
        created=header.created,
        benchforge=header.benchforge,
        profile=header.profile,
        seed=header.seed,
        smoke=header.smoke,
        titles=header.titles,
        tables=header.tables,
        complete=_complete(header, trials),
        cases=tuple(
            _case(
                case,
                by_case[identity(case)],
                planned[identity(case)],
                {label: metrics[label] for label in header.takes.get(case.scenario, metrics)},
                found[identity(case)],
                windows[identity(case)],
            )
            for case in header.cases
        ),
        versions=header.versions,
        runtimes=header.runtimes,
        facts=header.facts,
        sittings=tuple(sittings),
        comparisons=comparisons,
    )


def _check_tables(header: Header) -> None:
    for label, pivot in header.tables.items():
        if forgotten := crowded(pivot, header.cases):
            message = f"tables.{label}: several cases in one cell: {', '.join(forgotten)} differ"
            raise InvalidFile(f"the result's header: {message}", "the header was changed")


def identity(case: CaseName) -> Identity:
    """Return what a case is told by: labels of its scenario, server and driver, and its digest."""
    # What varies is part of the digest; two labels may stand for the same options.
    return case.scenario, case.server, case.driver, case.digest, case.arm


def _by_case(header: Header, trials: Sequence[Trial]) -> dict[Identity, list[Trial]]:
    found: dict[Identity, list[Trial]] = {identity(case): [] for case in header.cases}
    for trial in sorted(trials, key=lambda trial: trial.number):
        if identity(trial.case) not in found:
            raise InvalidFile(
                f"trial {trial.number}: {trial.case.title}: the result's header has no such case",
                "the trial was copied from another result, or the header was changed",
            )
        found[identity(trial.case)].append(trial)
    return found


def _complete(header: Header, trials: Sequence[Trial]) -> bool:
    there = {(trial.block, identity(trial.case)) for trial in trials}
    return all((one.block, identity(one.case)) in there for one in header.plan)


def _comparison(
    cases: Sequence[CaseName], by_case: Mapping[Identity, Sequence[Trial]]
) -> Comparison:
    found = tuple(settled(_to_look_at(by_case[identity(case)])) for case in cases)
    first = cases[0]
    return Comparison(
        scenario=first.scenario,
        driver=first.driver,
        vary=shared(first),
        cases=tuple(cases),
        checks=(),
        window=together(found),
        settled=found,
    )


def _to_look_at(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials of a case that tell its course: where one is believed, those that are."""
    used = used_of(trials)
    return [trial for trial in used if trial.believed] or used


def _case(
    case: CaseName,
    trials: Sequence[Trial],
    planned: int,
    metrics: Mapping[str, Metric],
    course: Settled,
    window: Window,
) -> CaseSummary:
    used = used_of(trials)
    return CaseSummary(
        case=case,
        trials=len(used),
        planned=planned,
        failed=tuple(_failed(trial) for trial in trials if not trial.measured),
        lines=lines(used, metrics, window),
        notes=(*_unsteady(course), *_notes(trials)),
        doubted=tuple(
            _doubted(trial, used) for trial in trials if trial.measured and not trial.believed
        ),
        believed=sum(trial.believed for trial in used),
        steady=course.steady,
    )


def used_of(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trial of a case whose numbers count in each block, from all of its attempts.

    That is the believed one; where none is, the last that has numbers.
    """
    used: dict[int, Trial] = {}
    for trial in sorted(trials, key=lambda trial: trial.attempt):
        before = used.get(trial.block)
        if trial.measured and (before is None or not before.believed):
            used[trial.block] = trial
    return list(used.values())


def _doubted(trial: Trial, used: Sequence[Trial]) -> DoubtedTrial:
    return DoubtedTrial(
        trial=trial.number,
        block=trial.block,
        attempt=trial.attempt,
        checks=trial.doubts,
        used=any(trial.number == one.number for one in used),
    )


def _failed(trial: Trial) -> FailedTrial:
    return FailedTrial(
        trial=trial.number,
        block=trial.block,
        attempt=trial.attempt,
        failure=trial.failure or _NO_REASON,
    )


def _unsteady(course: Settled) -> Iterator[str]:
    if course.steady is False:
        yield f"not steady: {course.says}; its numbers are of the whole load"


def _notes(trials: Sequence[Trial]) -> tuple[str, ...]:
    """What the checks found, failures first, each with the number of trials that it is about."""
    found = Counter(
        said
        for trial in trials
        for said in {(check.status, check.says) for check in trial.checks}
        if said[0] != "pass"
    )
    worst = ("fail", "warn", "unknown")
    worst_first = sorted(found, key=lambda said: (worst.index(said[0]), -found[said], said[1]))
    return tuple(
        f"{status}: {says} ({found[status, says]} of {len(trials)} trials)"
        for status, says in worst_first
    )
