"""Results in the order of time: of each suite its own line, and where the environment changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchforge.errors import BenchforgeError, Unusable
from benchforge.parts.registry import Registry
from benchforge.results.conclude import Summed, results_in, summed
from benchforge.results.over_time.differences import hard
from benchforge.results.over_time.levels import by_key
from benchforge.results.over_time.series import Course, courses


@dataclass(frozen=True)
class Timeline:
    """The results of one suite."""

    suite: str
    results: tuple[Summed, ...]
    "Results in order of time."
    breaks: dict[int, tuple[str, ...]]
    "Differences of the environment from the previous result's, by the result's index."


def timelines(
    named: Sequence[Path], registry: Registry, reference: str | None
) -> tuple[list[Timeline], list[str]]:
    """Return what is named or lies in a folder that is, and what was left out, with the reason.

    A smoke is left out, and so is a result that stands there twice. Raises as `summed` does for
    what is named itself.
    """
    by_suite: dict[str, list[Summed]] = {}
    left_out: list[str] = []
    for path in named:
        there = list(results_in(path)) or [path]
        for folder in there:
            try:
                result = summed(folder, registry)
            except BenchforgeError as error:
                if there == [path]:
                    raise
                left_out.append(error.message)
                continue
            among = by_suite.setdefault(result.summary.name, [])
            if result.summary.smoke:
                left_out.append(f"{folder}: a smoke: its numbers mean nothing")
            elif any(result.same(other) for other in among):
                left_out.append(f"{folder}: is there already")
            else:
                among.append(result)
    lines = [_timeline(name, some, reference) for name, some in by_suite.items() if some]
    if not lines:
        first = f": {left_out[0]}" if left_out else ""
        raise Unusable(f"no result{first}", "name results, or a folder that contains results")
    return lines, left_out


def with_courses(
    suite_timelines: Sequence[Timeline], reference: str | None, metrics: Sequence[str]
) -> list[tuple[Timeline, list[Course]]]:
    """Return each timeline with its courses. Raises Unusable for a label that no result has."""
    courses_by_timeline = [
        (line, [*courses([one.summary for one in line.results], line.breaks, reference, metrics)])
        for line in suite_timelines
    ]
    cases = [case for line in suite_timelines for one in line.results for case in one.summary.cases]
    servers = sorted({case.case.server for case in cases})
    if reference is not None and reference not in servers:
        message = f"--reference {reference}: no result has such a server"
        raise Unusable(message, f"available servers: {', '.join(servers)}")
    measured = {course.measure.metric for _, some in courses_by_timeline for course in some}
    labels = sorted({line.metric for case in cases for line in case.metrics})
    for label in metrics:
        if label not in measured:
            message = f"--metric {label}: no result has such a metric"
            raise Unusable(message, f"available metrics: {', '.join(labels)}")
    return courses_by_timeline


def _timeline(suite: str, results: list[Summed], reference: str | None) -> Timeline:
    results.sort(key=lambda result: result.summary.created)
    reasons = {
        place: (*hard(then, now), *_reference(then, now, reference))
        for place, (then, now) in enumerate(pairwise(results), 1)
    }
    breaks = {place: why for place, why in reasons.items() if why}
    return Timeline(suite, tuple(results), breaks)


def _reference(then: Summed, now: Summed, label: str | None) -> Iterator[str]:
    """Yield that the reference is another thing: a ratio to it is another number then."""
    old, new = by_key(then.summary), by_key(now.summary)
    for key in old.keys() & new.keys():
        case = new[key].case
        if case.server == label and case.digest != old[key].case.digest:
            yield f"the reference {label} has changed: options, code or data"
            return
