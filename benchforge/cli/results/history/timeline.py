"""Results in the order of time: of each suite its own line, and where the environment changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchforge.errors import Unusable
from benchforge.parts.registry import Registry
from benchforge.results.conclude import Summed
from benchforge.results.over_time.differences import hard
from benchforge.results.over_time.levels import by_key
from benchforge.results.over_time.older_results import check_labels, named_results
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
    for result in named_results(named, registry, left_out):
        if result.summary.smoke:
            left_out.append(f"{result.path}: a smoke: its numbers mean nothing")
        else:
            by_suite.setdefault(result.summary.name, []).append(result)
    lines = [_timeline(name, some, reference) for name, some in by_suite.items()]
    if not lines:
        first = f": {left_out[0]}" if left_out else ""
        raise Unusable(f"no result{first}", "name results, or a folder that contains results")
    return lines, left_out


def with_courses(
    suite_timelines: Sequence[Timeline], reference: str | None, metrics: Sequence[str]
) -> list[tuple[Timeline, list[Course]]]:
    """Return each timeline with its courses. Raises Unusable for a label that no result has."""
    check_labels([one for line in suite_timelines for one in line.results], reference, metrics)
    return [
        (line, [*courses([one.summary for one in line.results], line.breaks, reference, metrics)])
        for line in suite_timelines
    ]


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
