"""What searches for a rate found, as tables of text: one row a search, and one row a trial."""

from collections.abc import Iterator, Mapping, Sequence

from benchforge.plugin import Capacity, CaseSummary, SearchTrial, readable, server_names
from benchforge_reporters.text.cells import NOTHING, case_labels
from benchforge_reporters.text.tables import Table, TableRow, case_table, trial_table

RATES = readable.Scale("requests/s")
_ENDS = {
    "done": "all steps made",
    "too low": "the lowest rate fails",
    "too high": "the highest rate passes",
    "unanswered": "trials say nothing",
}


def table_of(cases: Sequence[CaseSummary], first: int | None = None) -> Table:
    """Return one row a case or search of a scenario; of metrics the `first` columns."""
    if not any(case.capacity for case in cases):
        return case_table(cases, first)
    labels = case_labels(cases)
    heads = ("rate (/s)", "95 %", "safe (/s)", "passed at most (/s)", "trials", "ended")
    searches = [
        (named, case.capacity)
        for named, case in zip(labels.rows, cases, strict=True)
        if case.capacity is not None
    ]
    notes = ["rate: passed half of the time; safe: passed 19 times in 20"]
    for named, capacity in searches:
        if capacity.phase != "done":
            notes.append(f"{', '.join(named)}: {capacity.message}")
    for named, capacity in searches:
        high, ends = capacity.highest_passed, capacity.rate.interval
        if high is not None and ends is not None and high > ends[1]:  # trials contradict
            changed = "the server or the machine changed between trials"
            passed = f"{RATES.text(high)}/s passed once, above the interval"
            notes.append(f"{', '.join(named)}: {passed}: {changed}")
    rows = tuple(TableRow((*named, *_searched(capacity)), ()) for named, capacity in searches)
    return Table((*labels.heads, *heads), (), rows, tuple(notes))


def _searched(capacity: Capacity) -> Iterator[str]:
    yield rate_of(capacity)
    interval = capacity.rate.interval
    yield NOTHING if interval is None else f"[{'–'.join(map(RATES.text, interval))}]"
    yield NOTHING if capacity.safe is None else RATES.text(capacity.safe)
    yield NOTHING if capacity.highest_passed is None else RATES.text(capacity.highest_passed)
    yield str(len(capacity.attempts))
    yield _ENDS.get(capacity.phase, "not finished")


def rate_of(capacity: Capacity) -> str:
    """Return the rate as a word: a bound if that is all, or that it is unknown."""
    if capacity.rate.value is not None:
        return RATES.text(capacity.rate.value)
    if capacity.phase == "too high":
        return f"at least {RATES.text(capacity.ends[0])}"
    return f"less than {RATES.text(capacity.ends[1])}" if capacity.phase == "too low" else "unknown"


def trials_of(cases: Sequence[CaseSummary], most: int) -> tuple[Table, int]:
    """Return a row for each of the first `most` trials, and how many are left.

    Of a search it has the rate, and the objectives that it kept or missed.
    """
    if not any(case.capacity for case in cases):
        return trial_table(cases, most)
    labels, scales = case_labels(cases), _scales(cases)
    units = {name: f" ({scale.unit})" * (scale.unit != "1") for name, scale in scales.items()}
    heads = (f"{objective}{unit}" for objective, unit in units.items())
    named_cases = zip(labels.rows, cases, strict=True)
    rows = [row for named, case in named_cases for row in _rows(named, case, scales)]
    names = ("trial", "round", *labels.heads, "asked (/s)", "kept", *heads)
    return Table(names, (), tuple(rows[:most]), ()), max(0, len(rows) - most)


def _scales(cases: Sequence[CaseSummary]) -> dict[str, readable.Scale]:
    attempts = [each for case in cases if case.capacity for each in case.capacity.attempts]
    outcomes = [outcome for attempt in attempts for outcome in attempt.outcomes]
    scales = {}
    for objective in dict.fromkeys(outcome.objective for outcome in outcomes):
        alike = [outcome for outcome in outcomes if outcome.objective == objective]
        unit = next((outcome.unit for outcome in alike if outcome.unit), "1")
        values = [outcome.value for outcome in alike if outcome.value is not None]
        scales[objective] = readable.scale(unit, values)
    return scales


def _rows(
    named: tuple[str, ...], case: CaseSummary, scales: Mapping[str, readable.Scale]
) -> Iterator[TableRow]:
    attempts = {each.trial: each for each in case.capacity.attempts} if case.capacity else {}
    lost = {trial.trial: (trial.block, "failed") for trial in case.failed}
    for trial in case.doubted:
        codes = ", ".join(check.id for check in trial.checks)
        lost[trial.trial] = trial.block, f"not believed: {codes}"
    for number in sorted(attempts.keys() | lost.keys()):
        if number in attempts:
            attempt = attempts[number]
            figures = [_figure(attempt, *item) for item in scales.items()]
            passed = "yes" if attempt.passed else "no"
            labels = (str(attempt.round), *named, RATES.text(attempt.rate), passed, *figures)
        else:
            block, reason = lost[number]
            labels = (str(block), *named, NOTHING, reason, *[NOTHING for _ in scales])
        yield TableRow((str(number), *labels), ())


def _figure(attempt: SearchTrial, objective: str, unit: readable.Scale) -> str:
    for outcome in attempt.outcomes:
        if outcome.objective == objective:
            if outcome.value is None:
                return f"unknown: {outcome.why}"
            text = readable.percent if outcome.in_percent else unit.text
            return text(outcome.value) + ("" if outcome.kept else ": no")
    return attempt.why or NOTHING


def found_rates(cases: Sequence[CaseSummary], *, apart: bool) -> str:
    """Return the rates that searches found, in a sentence; empty if no case was a search.

    `apart` says that no two intervals have a rate in common.
    """
    named = list(zip(server_names([case.case for case in cases]), cases, strict=True))
    if all(case.capacity is None for case in cases):
        return ""
    searches = ((server, case.capacity) for server, case in named if case.capacity is not None)
    ranked = [(server, capacity) for server, capacity in searches if capacity.answered]
    if len(ranked) < len(cases):
        answered = {server for server, _ in ranked}
        names = [server for server, _ in named if server not in answered]
        return f"No answer: no rate is known of {readable.conjoined(names)}"
    ranked.sort(key=lambda rate: rate[1].ends, reverse=True)
    texts = [f"{server} {rate_in_words(capacity)}" for server, capacity in ranked]
    shared = "" if apart or len(ranked) == 1 else ": the intervals have rates in common"
    return f"Highest rate that keeps all objectives: {readable.conjoined(texts)}{shared}"


def rate_in_words(capacity: Capacity) -> str:
    """Return the rate, at which half of the trials fail, its interval, and the one to plan with."""
    text = f"{rate_of(capacity)} requests/s"
    if capacity.rate.value is None or capacity.rate.interval is None:
        return text
    low, high = map(RATES.text, capacity.rate.interval)
    plan = "" if capacity.safe is None else f"; plan with {RATES.text(capacity.safe)}"
    return f"{text} ({low} to {high}, 95 %{plan})"
