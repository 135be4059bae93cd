"""The servers of a comparison as rows: rank, level with its interval, response times, CPU time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchforge.plugin import (
    RATE,
    CaseSummary,
    Comparison,
    MetricRanking,
    MetricSummary,
    Summary,
    Trial,
    server_names,
    titled,
)
from benchforge_reporters.document.answers import label_of
from benchforge_reporters.document.cpu_time import CpuByRole, cost, trials_that_count

_TAIL = 99.0  # the percentile that is shown where a suite has several
_TO = "\N{EN DASH}"


@dataclass(frozen=True)
class LevelRow:
    """A server of a comparison."""

    server: str
    rank: str
    "Ranks that the intervals allow, such as 1, or 2 to 3."
    value: float
    interval: tuple[float, float] | None
    latency: float | None
    "Response time in seconds; None if unknown."
    thin: bool
    "True if the response time rests on few responses, or is a lower bound."
    cpu: CpuByRole
    "CPU time that a response takes of each role, in seconds; empty if unknown."


@dataclass(frozen=True)
class Levels:
    """The servers of a comparison, the best first."""

    scenario: str
    label: str
    metric: str
    unit: str
    latency: str
    "Title of the response times, such as p99; empty if no server has one."
    unknown: tuple[str, ...] = ()
    "Columns that no server has a value of, each with the reason: they are left out."
    failed: float | None = None
    "Most failed requests of a trial; None if unknown."
    rows: tuple[LevelRow, ...] = ()

    @property
    def top(self) -> float:
        """The highest end of an interval: where an axis from zero ends."""
        ends: list[float] = [end for row in self.rows for end in (row.value, *(row.interval or ()))]
        return max(ends)


def levels(summary: Summary, trials: Sequence[Trial]) -> list[Levels]:
    """Return the rows of each comparison that has a ranking."""
    made = (_levels(one, summary, trials) for one in summary.comparisons)
    return [one for one in made if one is not None and one.rows]


def _levels(comparison: Comparison, summary: Summary, trials: Sequence[Trial]) -> Levels | None:
    cases = summary.cases_of(comparison)
    if len(cases) == 1:
        return _alone(comparison, cases[0], summary, trials)
    ranked = summary.standing(comparison)
    if ranked is None or ranked.ranking is None:
        return None
    by_name = dict(zip(server_names([one.case for one in cases]), cases, strict=True))
    shown = _shown_latency(cases)
    rows = []
    for server in ranked.ranking.order:
        case, level = by_name.get(server.server), server.value
        if case is None or level.value is None:
            continue
        ranks = _ranks(server.best, server.worst)
        values = level.value, level.interval
        rows.append(_row((server.server, ranks), values, case, shown, trials))
    titled = _titled(comparison, summary, ranked, shown)
    return _with_rows(titled, cases, rows, trials)


def _alone(
    comparison: Comparison, case: CaseSummary, summary: Summary, trials: Sequence[Trial]
) -> Levels | None:
    """Return the row of a server that is compared with none: a value without a rank."""
    line = next((one for one in case.metrics if one.measurand == RATE), None)
    if line is None or line.level is None or summary.smoke:
        return None
    shown = _shown_latency([case])
    row = _row((case.case.server, ""), (line.level, None), case, shown, trials)
    return _with_rows(_titled(comparison, summary, line, shown), [case], [row], trials)


def _row(
    server: tuple[str, str],
    level: tuple[float, tuple[float, float] | None],
    case: CaseSummary,
    shown: MetricSummary | None,
    trials: Sequence[Trial],
) -> LevelRow:
    """Return the row of a server, by its name and rank, with its value and interval."""
    times = None if shown is None else _line(case, shown)
    return LevelRow(
        server=server[0],
        rank=server[1],
        value=level[0],
        interval=level[1],
        latency=None if times is None else times.level,
        thin=times is not None and _thin(times),
        cpu=cost(trials_that_count(case, trials)),
    )


def _titled(
    comparison: Comparison,
    summary: Summary,
    of: MetricRanking | MetricSummary,
    shown: MetricSummary | None,
) -> Levels:
    return Levels(
        scenario=comparison.scenario,
        label=label_of(comparison, summary),
        metric=titled(of.metric, of.of),
        unit=of.unit,
        latency="" if shown is None else _name(shown),
    )


def _with_rows(
    levels: Levels,
    cases: Sequence[CaseSummary],
    rows: Sequence[LevelRow],
    trials: Sequence[Trial],
) -> Levels:
    unknown = tuple(_unknown(cases, rows, trials))
    return replace(levels, unknown=unknown, failed=_failed(cases), rows=tuple(rows))


def _shown_latency(cases: Sequence[CaseSummary]) -> MetricSummary | None:
    """Return the response times that are shown: p99, or else the highest percentile.

    None if no case has a value of it.
    """
    shown = _highest(cases)
    lines = () if shown is None else [_line(case, shown) for case in cases]
    return shown if any(line is not None and line.median is not None for line in lines) else None


def _highest(cases: Sequence[CaseSummary]) -> MetricSummary | None:
    lines = [
        line
        for case in cases
        for line in case.metrics
        if line.measurand == "response time" and line.unit == "s"
    ]
    below = [line for line in lines if (line.percentile or 0.0) <= _TAIL]
    return max(below or lines, key=lambda line: line.percentile or 0.0, default=None)


def _name(line: MetricSummary) -> str:
    return line.of or titled(line.metric, line.of)


def _unknown(
    cases: Sequence[CaseSummary], rows: Sequence[LevelRow], trials: Sequence[Trial]
) -> Iterator[str]:
    """Yield the columns that no server has a value of, each with the reason."""
    if (times := _highest(cases)) is not None and all(row.latency is None for row in rows):
        yield f"{_name(times)} is unknown{_because(times)}"
    if not any(row.cpu for row in rows):
        observed = (one.observation for one in trials if one.observation is not None)
        whys = (usage.why for one in observed for usage in one.usage if usage.cpu_s is None)
        why = next(filter(None, whys), "")
        yield f"CPU/request is unknown{f': {why}' if why else ''}"


def _because(line: MetricSummary) -> str:
    why = line.why.partition(" (trial")[0]
    return f": {why}" if why else ""


def _line(case: CaseSummary, like: MetricSummary) -> MetricSummary | None:
    names = like.metric, like.of
    return next((one for one in case.metrics if (one.metric, one.of) == names), None)


def _thin(line: MetricSummary) -> bool:
    return line.at_least or any(one.sample.why for one in line.samples)


def _failed(cases: Sequence[CaseSummary]) -> float | None:
    lines = [line for case in cases for line in case.metrics if line.of_failures]
    counts = [line.highest for line in lines if line.highest is not None]
    return max(counts, default=0.0) if counts or not lines else None


def _ranks(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}{_TO}{worst}"
