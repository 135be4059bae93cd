"""Servers of a comparison as rows: rank, level, response times, CPU time; times at one rate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchforge.plugin import (
    RATE,
    CaseSummary,
    Comparison,
    Estimate,
    MetricRanking,
    MetricSummary,
    Summary,
    Trial,
    readable,
    server_names,
)
from benchforge_reporters.document.answers import label_of
from benchforge_reporters.document.cpu_time import CpuByRole, cost, trials_that_count

_TAIL = 99.0  # the percentile that is shown where a suite has several


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


class Levels:
    """The servers of a comparison, the best first."""

    def __init__(self, comparison: Comparison, summary: Summary, trials: Sequence[Trial]) -> None:
        cases = summary.cases_of(comparison)
        by_name = dict(zip(server_names([case.case for case in cases]), cases, strict=True))
        rates = (line for case in cases[:1] for line in case.metrics if line.measurand == RATE)
        measured = next(rates, None) if len(cases) == 1 else summary.standing(comparison)
        quoted = comparison.verdict is None or comparison.verdict.cpu
        latency, self.rows = _shown_latency(cases), list[LevelRow]()
        for server, rank, value, interval in _ranked(measured, summary):
            if (case := by_name.get(server or next(iter(by_name)))) is None or value is None:
                continue
            times = None if latency is None else case.line(latency.metric, latency.of)
            self.rows.append(
                LevelRow(
                    server=server or case.case.server,
                    rank=rank,
                    value=value,
                    interval=interval,
                    latency=None if times is None else times.level,
                    thin=times is not None and _thin(times),
                    cpu=cost(trials_that_count(case, trials)) if quoted else {},
                )
            )
        self.label = label_of(comparison, summary)
        self.unit = "" if measured is None else measured.unit
        self.latency = "" if latency is None else latency.of or latency.metric
        "Title of the response times, such as p99; empty if no server has one."
        self.unknown = [*_unknown(cases, self.rows, trials if quoted else ())]
        "Columns that no server has a value of, each with the reason: they are left out."
        self.failed = _failed(cases)
        "Most failed requests of a trial; None if unknown."

    @property
    def top(self) -> float:
        """The highest end of an interval: where an axis from zero ends."""
        ends: list[float] = [end for row in self.rows for end in (row.value, *(row.interval or ()))]
        return max(ends)


def levels(
    comparisons: Sequence[Comparison], summary: Summary, trials: Sequence[Trial]
) -> list[Levels]:
    """Return the rows of each comparison that has a ranking."""
    made = (Levels(comparison, summary, trials) for comparison in comparisons)
    return [table for table in made if table.rows]


def _ranked(
    measured: MetricRanking | MetricSummary | None, summary: Summary
) -> Iterator[tuple[str, str, float | None, tuple[float, float] | None]]:
    """Yield name, ranks, value and interval of each server; of one without others, its value."""
    if isinstance(measured, MetricRanking):
        for entry in measured.ranking.order if measured.ranking else ():
            rank = str(entry.best) if entry.best == entry.worst else f"{entry.best}–{entry.worst}"
            yield entry.server, rank, entry.value.value, entry.value.interval
    elif measured is not None and not summary.smoke:  # which has no level
        yield "", "", measured.level, None


def _shown_latency(cases: Sequence[CaseSummary]) -> MetricSummary | None:
    """Return the line of p99, else of the highest percentile; None if no case has its value."""
    if (highest := _highest(cases)) is None:
        return None
    lines = (case.line(highest.metric, highest.of) for case in cases)
    return highest if any(line and line.median is not None for line in lines) else None


def _highest(cases: Sequence[CaseSummary]) -> MetricSummary | None:
    lines = [line for case in cases for line in case.metrics]
    lines = [line for line in lines if (line.measurand, line.unit) == ("response time", "s")]
    below = [line for line in lines if (line.percentile or 0.0) <= _TAIL]
    return max(below or lines, key=lambda line: line.percentile or 0.0, default=None)


def _unknown(
    cases: Sequence[CaseSummary], rows: Sequence[LevelRow], trials: Sequence[Trial]
) -> Iterator[str]:
    if (times := _highest(cases)) is not None and all(row.latency is None for row in rows):
        reason = times.why.partition(" (trial")[0]
        yield f"{times.of or times.metric} is unknown{f': {reason}' if reason else ''}"
    if not any(row.cpu for row in rows):
        observed = (trial.observation for trial in trials if trial.observation is not None)
        whys = (usage.why for item in observed for usage in item.usage if usage.cpu_s is None)
        reason = next(filter(None, whys), "")
        reason = reason or ("servers work on after the load" if not trials else "")
        yield f"CPU/request is unknown{f': {reason}' if reason else ''}"


def _thin(line: MetricSummary) -> bool:
    return line.at_least or any(sample.sample.why for sample in line.samples)


def _failed(cases: Sequence[CaseSummary]) -> float | None:
    lines = [line for case in cases for line in case.metrics if line.of_failures]
    counts = [line.highest for line in lines if line.highest is not None]
    return max(counts, default=0.0) if counts or not lines else None


def latency_rows(summary: Summary) -> Iterator[tuple[str, str]]:
    """Yield what comparisons have beside them: the label of a scenario, and its times in words."""
    for comparison in summary.comparisons:
        latency = comparison.latency
        if latency is not None and not summary.smoke:
            times = "; ".join(
                f"{it.server} p50 {_in_words(it.median)}, p{latency.tail:g} {_in_words(it.tail)}"
                for it in latency.servers
            )
            reason = f" ({latency.why})" if latency.why and times else latency.why
            rate = readable.amount("requests/s", latency.rate)
            yield latency.scenario, f"latency at {rate}: {times or 'unknown: '}{reason}"


def _in_words(estimate: Estimate) -> str:
    """Return a time with its interval: 1.21 (1.10 to 1.33) ms."""
    if estimate.value is None:
        return f"unknown: {estimate.why}"
    if estimate.low is None or estimate.high is None:
        return f"{readable.amount('s', estimate.value)} ({estimate.why})"
    low, value, high = readable.amounts("s", estimate.low, estimate.value, estimate.high)
    number, unit = high.split(" ")
    return f"{value} ({low} to {number}) {unit}"
