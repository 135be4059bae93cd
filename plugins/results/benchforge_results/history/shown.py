"""`benchforge history`: results over time."""

import json
from pathlib import Path

from benchforge.cli.screen.say import say, show
from benchforge.errors import Unusable
from benchforge.registry import Registry
from benchforge_results.history.text import as_csv, document, text
from benchforge_results.history.timeline import Timeline, timelines
from benchforge_results.over_time.series import Course, courses


def main(
    results: tuple[Path, ...],
    reference: str | None,
    metrics: tuple[str, ...],
    as_json: bool,
    csv_: bool,
    page: Path | None,
) -> int:
    """Show each case and metric over several results, in order of time. Return the exit code."""
    if as_json and csv_:
        raise Unusable("--json and --csv exclude each other", "leave one out")
    suite_timelines, left_out = timelines(results, Registry(), reference)
    courses_by_timeline = [(line, _courses(line, reference, metrics)) for line in suite_timelines]
    _check(suite_timelines, courses_by_timeline, reference, metrics)
    if as_json:
        show(json.dumps([document(*one) for one in courses_by_timeline], indent=1, allow_nan=False))
    elif csv_:
        show(as_csv(courses_by_timeline).rstrip("\n"))
    else:
        show("\n\n".join("\n".join(text(*one)) for one in courses_by_timeline))
    if page is not None:
        # jinja2 and the charts take about 50 ms, which the text does not need.
        from benchforge_results.history.page import history_page  # noqa: PLC0415
        from benchforge_results.over_time.page_file import write_page  # noqa: PLC0415

        write_page(page, "history.html.j2", history_page(courses_by_timeline))
    for omission in left_out:
        say(f"left out: {omission}")
    return 0


def _courses(line: Timeline, reference: str | None, metrics: tuple[str, ...]) -> list[Course]:
    return list(courses([one.summary for one in line.results], line.breaks, reference, metrics))


def _check(
    suite_timelines: list[Timeline],
    courses_by_timeline: list[tuple[Timeline, list[Course]]],
    reference: str | None,
    metrics: tuple[str, ...],
) -> None:
    """Raise Unusable for a label that no result has."""
    cases = [case for line in suite_timelines for one in line.results for case in one.summary.cases]
    servers = sorted({case.case.server for case in cases})
    if reference is not None and reference not in servers:
        message = f"--reference {reference}: no result has such a server"
        raise Unusable(message, f"available servers: {', '.join(servers)}")
    shown = {course.measure.metric for _, some in courses_by_timeline for course in some}
    labels = sorted({line.metric for case in cases for line in case.metrics})
    for label in metrics:
        if label not in shown:
            message = f"--metric {label}: no result has such a metric"
            raise Unusable(message, f"available metrics: {', '.join(labels)}")
