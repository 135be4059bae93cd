"""From the trials to what a result says: every value, the median and the spread."""

from collections import Counter
from collections.abc import Mapping, Sequence

from benchforge.errors import InvalidFile
from benchforge.model.pivot import crowded
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import CaseSummary, Comparison, Summary
from benchforge.model.trial import CaseName, Trial
from benchforge.parts.part import Metric
from benchforge.stats.case import of_case, used_of
from benchforge.stats.groups import groups, shared
from benchforge.stats.placebo import placebo
from benchforge.stats.windows import settled, together, window_of

Identity = tuple[str, str, str, str, int]


def summarize(
    header: Header,
    trials: Sequence[Trial],
    metrics: Mapping[str, Metric],
    sittings: Sequence[Sitting] = (),
) -> Summary:
    """Return what the trials say, case by case in the order of the suite.

    Raises InvalidFile for a trial or a claim whose case the header does not know, and for a table
    that has several cases in one cell.
    """
    _check_tables(header)
    _check_claims(header)
    by_case = _by_case(header, trials)
    planned = Counter(identity(one.case) for one in header.plan)
    comparisons = tuple(_comparison(group, by_case) for group in groups(header.cases))
    looked_at = {
        identity(case): (one, window_of(one, group.window))
        for group in comparisons
        for case, one in zip(group.cases, group.settled, strict=True)
    }

    def summed(case: CaseName, like: CaseName) -> CaseSummary:
        return of_case(
            case,
            by_case[identity(case)],
            planned[identity(case)],
            {label: metrics[label] for label in header.takes.get(case.scenario, metrics)},
            *looked_at[identity(like)],
        )

    cases = tuple(summed(case, case) for case in header.cases if not case.placebo)
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
        claims=header.claims,
        complete=_complete(header, trials),
        cases=cases,
        versions=header.versions,
        runtimes=header.runtimes,
        code=header.code,
        facts=header.facts,
        sittings=tuple(sittings),
        comparisons=comparisons,
        placebos=tuple(
            placebo(first, summed(again, first.case), _believed(trials))
            for again in header.cases
            if again.placebo
            for first in [one for one in cases if _twin(one.case, again)][:1]
        ),
    )


def _twin(case: CaseName, placebo: CaseName) -> bool:
    labels = ("scenario", "server", "driver", "digest")
    return all(getattr(case, label) == getattr(placebo, label) for label in labels)


def _believed(trials: Sequence[Trial]) -> frozenset[int]:
    return frozenset(trial.number for trial in trials if trial.believed)


def _check_tables(header: Header) -> None:
    for label, pivot in header.tables.items():
        if forgotten := crowded(pivot, header.cases):
            message = f"tables.{label}: several cases in one cell: {', '.join(forgotten)} differ"
            raise InvalidFile(f"the result's header: {message}", "the header was changed")


def _check_claims(header: Header) -> None:
    there = {identity(case) for case in header.cases if not case.placebo}
    for claim in header.claims:
        for case in claim.cases:
            if identity(case) not in there:
                message = f"claims.{claim.label}: {case.title}: no such case"
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
