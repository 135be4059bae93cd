"""What searches for a rate found, as tables of text: one row a search, and one row a trial."""

from collections.abc import Iterator, Mapping, Sequence

from benchforge.plugin import Attempt, Capacity, CaseSummary, Outcome
from benchforge.reporters.cells import NOTHING
from benchforge.reporters.labels import case_labels
from benchforge.reporters.numbers import Scale, scale
from benchforge.reporters.tables import Row, Table, case_table, trial_table

RATES = Scale("requests/s")
_TO = "\N{EN DASH}"
_ENDS = {
    "done": "all steps made",
    "too low": "the lowest rate fails",
    "too high": "the highest rate passes",
    "unanswered": "trials say nothing",
}


def table_of(cases: Sequence[CaseSummary], first: int | None = None) -> Table:
    """Return one row a case of a scenario; of metrics the `first` columns."""
    if any(case.capacity for case in cases):
        return search_table(cases)
    return case_table(cases, first)


def trials_of(cases: Sequence[CaseSummary]) -> Table:
    """Return one row a trial of a scenario."""
    if any(case.capacity for case in cases):
        return attempt_table(cases)
    return trial_table(cases)


def search_table(cases: Sequence[CaseSummary]) -> Table:
    """Return one row a search: its rate with the interval, and how it ended."""
    labels = case_labels(cases)
    heads = ("rate (/s)", "95 %", "safe (/s)", "passed at most (/s)", "trials", "ended")
    found = [
        (named, case.capacity)
        for named, case in zip(labels.rows, cases, strict=True)
        if case.capacity is not None
    ]
    return Table(
        heads=(*labels.heads, *heads),
        columns=(),
        rows=tuple(Row((*named, *_searched(one)), ()) for named, one in found),
        footnotes=(
            "rate: passed half of the time; safe: passed 19 times in 20",
            *(f"{', '.join(named)}: {one.says}" for named, one in found if one.phase != "done"),
        ),
    )


def _searched(one: Capacity) -> Iterator[str]:
    yield rate_of(one)
    interval = one.rate.interval
    yield NOTHING if interval is None else f"[{_TO.join(map(RATES.text, interval))}]"
    yield NOTHING if one.safe is None else RATES.text(one.safe)
    yield NOTHING if one.at_least is None else RATES.text(one.at_least)
    yield str(len(one.attempts))
    yield _ENDS.get(one.phase, "not finished")


def rate_of(one: Capacity) -> str:
    """Return the rate as a word: a bound where that is all, or that it is not known."""
    if one.rate.value is not None:
        return RATES.text(one.rate.value)
    tried = [attempt.rate for attempt in one.attempts]
    match one.phase:
        case "too high":
            return f"at least {RATES.text(max(tried))}"
        case "too low":
            return f"less than {RATES.text(min(tried))}"
    return "unknown"


def attempt_table(cases: Sequence[CaseSummary]) -> Table:
    """Return one row a trial: which rate it was asked for, and what was kept or not."""
    labels = case_labels(cases)
    scales = _scales(cases)
    heads = (f"{told} ({one.unit})" if one.unit != "1" else told for told, one in scales.items())
    return Table(
        heads=("trial", "round", *labels.heads, "asked (/s)", "kept", *heads),
        columns=(),
        rows=tuple(
            row
            for named, case in zip(labels.rows, cases, strict=True)
            for row in _rows(named, case, scales)
        ),
        footnotes=(),
    )


def _scales(cases: Sequence[CaseSummary]) -> dict[str, Scale]:
    """Return the objectives, each with one scale for all of its values."""
    found: dict[str, list[Outcome]] = {}
    for case in cases:
        for one in case.capacity.attempts if case.capacity else ():
            for outcome in one.outcomes:
                found.setdefault(outcome.objective, []).append(outcome)
    return {
        objective: scale(
            next((one.unit for one in outcomes if one.unit), "1"),
            [one.value for one in outcomes if one.value is not None],
        )
        for objective, outcomes in found.items()
    }


def _rows(named: tuple[str, ...], case: CaseSummary, scales: Mapping[str, Scale]) -> Iterator[Row]:
    attempts = {one.trial: one for one in case.capacity.attempts} if case.capacity else {}
    lost = {one.trial: (one.block, "failed") for one in case.failed}
    lost |= {
        one.trial: (one.block, f"not believed: {', '.join(check.id for check in one.checks)}")
        for one in case.doubted
    }
    for number in sorted(attempts.keys() | lost.keys()):
        if number in attempts:
            one = attempts[number]
            figures = [_figure(one, *item) for item in scales.items()]
            kept = "yes" if one.passed else "no"
            labels = (str(one.round), *named, RATES.text(one.rate), kept, *figures)
        else:
            block, why = lost[number]
            labels = (str(block), *named, NOTHING, why, *[NOTHING for _ in scales])
        yield Row((str(number), *labels), ())


def _figure(one: Attempt, objective: str, unit: Scale) -> str:
    for outcome in one.outcomes:
        if outcome.objective == objective:
            if outcome.value is None:
                return f"unknown: {outcome.why}"
            return unit.text(outcome.value) + ("" if outcome.kept else ": no")
    return one.why or NOTHING
