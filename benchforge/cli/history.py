"""`benchforge history`: results over time."""

import json
from pathlib import Path

import click

from benchforge.cli.history_text import as_csv, as_json, text
from benchforge.cli.say import say, show
from benchforge.errors import Unusable
from benchforge.registry import Registry
from benchforge.run.timeline import Timeline, timelines
from benchforge.stats.series import Course, courses


@click.command("history")
@click.argument(
    "results", metavar="RESULT...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--reference",
    metavar="LABEL",
    help="A server that was measured in all of them: shown is also the ratio to it.",
)
@click.option("--metric", "metrics", metavar="LABEL", multiple=True, help="Show this one only.")
@click.option("--json", "json_", is_flag=True, help="Print all of it as JSON.")
@click.option("--csv", "csv_", is_flag=True, help="Print a line for each number, as CSV.")
def command(
    results: tuple[Path, ...],
    reference: str | None,
    metrics: tuple[str, ...],
    json_: bool,
    csv_: bool,
) -> int:
    """Show each case and metric over results, in the order of time.

    A RESULT is a folder, a summary.json, or a folder of results. Where the machine or a load tool
    changed, a new series begins: the two are never joined. In a series of 20 or more with a
    --reference it is told between which results the level changed.

    Exit codes: 0 shown; 1 a result that is named is invalid; 2 there is no result, or one that is
    named cannot be read.
    """
    if json_ and csv_:
        raise Unusable("--json and --csv: only one can be printed", "leave one out")
    found, left_out = timelines(results, Registry(), reference)
    known = [(line, _courses(line, reference, metrics)) for line in found]
    _check(found, known, reference, metrics)
    if json_:
        show(json.dumps([as_json(*one) for one in known], indent=1, allow_nan=False))
    elif csv_:
        show(as_csv(known).rstrip("\n"))
    else:
        show("\n\n".join("\n".join(text(*one)) for one in known))
    for one in left_out:
        say(f"left out: {one}")
    return 0


def _courses(line: Timeline, reference: str | None, metrics: tuple[str, ...]) -> list[Course]:
    return list(courses([one.summary for one in line.results], line.breaks, reference, metrics))


def _check(
    found: list[Timeline],
    known: list[tuple[Timeline, list[Course]]],
    reference: str | None,
    metrics: tuple[str, ...],
) -> None:
    """Raise Unusable for a label that no result has."""
    cases = [case for line in found for one in line.results for case in one.summary.cases]
    servers = sorted({case.case.server for case in cases})
    if reference is not None and reference not in servers:
        message = f"--reference {reference}: no result has such a server"
        raise Unusable(message, f"there are: {', '.join(servers)}")
    shown = {course.measure.metric for _, some in known for course in some}
    labels = sorted({line.metric for case in cases for line in case.lines})
    for one in metrics:
        if one not in shown:
            message = f"--metric {one}: no result has such a metric"
            raise Unusable(message, f"there are: {', '.join(labels)}")
