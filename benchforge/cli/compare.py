"""`benchforge compare`: what changed, as far as results can tell."""

import json
from pathlib import Path

import click

from benchforge.cli.compare_text import as_json, text
from benchforge.cli.say import say, show
from benchforge.errors import Unusable
from benchforge.registry import Registry
from benchforge.run.older import Older, older
from benchforge.run.summed import Summed, summed
from benchforge.stats.change import PAST
from benchforge.stats.compared import Compared, compared
from benchforge.stats.levels import by_key

WORSE, NO_ANSWER = 1, 4
_PERCENT = "%"


@click.command("compare")
@click.argument(
    "results", metavar="OLD NEW", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--against",
    metavar="RESULT",
    multiple=True,
    type=click.Path(path_type=Path),
    help="An older result, or a folder of them, and what else is named: NEW is then the first.",
)
@click.option(
    "--reference",
    metavar="LABEL",
    help="A server that was measured in all of them: what counts is the ratio to it.",
)
@click.option("--metric", "metrics", metavar="LABEL", multiple=True, help="Compare this one only.")
@click.option(
    "--least", metavar="SHARE", default="3%", show_default=True, help="Tell no smaller change."
)
@click.option(
    "--anyway", is_flag=True, help="Compare although machine, tools or suite differ; it is marked."
)
@click.option("--json", "json_", is_flag=True, help="Print all of it as JSON.")
@click.option(
    "--rebaseline",
    is_flag=True,
    help="Measure the commits of OLD once more, beside the servers of NEW, and compare those.",
)
@click.option(
    *("-o", "--output"),
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Of --rebaseline: keep the result in a new folder below it.",
)
def command(
    results: tuple[Path, ...],
    against: tuple[Path, ...],
    reference: str | None,
    metrics: tuple[str, ...],
    least: str,
    anyway: bool,
    json_: bool,
    rebaseline: bool,
    output: Path,
) -> int:
    """Compare result NEW with OLD, or with several: NEW --against RESULT...

    A RESULT is a folder, a summary.json, or a folder of results. Two results are no model of what
    differs by itself: then numbers are shown, and nothing is said of them. With five or more older
    ones and a --reference, what they predict of a new one decides. Surest is --rebaseline: both are
    measured in the same blocks.

    Exit codes: 0 nothing is worse, as far as could be told; 1 something is worse; 2 they cannot be
    compared; 4 a case of NEW has no believable number.
    """
    named = _named(results, against)
    share = _share(least)
    registry = Registry()
    if rebaseline:
        alone = not (against or reference or metrics or json_)
        return _again(named, share, output, registry, alone=alone)
    new = summed(named[0], registry)
    _check(new, reference, metrics)
    before = older(new, named[1:], registry, reference, anyway=anyway, earlier=bool(against))
    past = [one.summary for one in before.results]
    rows = list(compared(new.summary, past, reference, share, metrics))
    if json_:
        every = as_json(new, before, rows, reference, registry)
        show(json.dumps(every, indent=1, allow_nan=False))
    else:
        show("\n".join(text(new, before, rows, reference, registry)))
    for one in before.left_out:
        say(f"left out: {one}")
    return _code(new, before, rows, asked=reference is not None and len(past) >= PAST)


def _again(
    named: tuple[Path, ...], least: float, output: Path, registry: Registry, *, alone: bool
) -> int:
    # Only here: a comparison of results needs nothing that measures.
    from benchforge.cli.rebaseline import rebaseline  # noqa: PLC0415
    from benchforge.run.execute import Limits  # noqa: PLC0415

    if not alone:
        message = (
            "--rebaseline measures OLD again: --against, --reference, --metric, --json say nothing"
        )
        raise Unusable(message, "compare OLD NEW --rebaseline")
    new, old = named
    return rebaseline(old, new, output, registry, Limits(), least)


def _code(new: Summed, before: Older, rows: list[Compared], *, asked: bool) -> int:
    """Return the exit code; `asked` is whether there could be a model, and so a verdict."""
    unanswered = not all(one.answered(smoke=new.summary.smoke) for one in new.summary.cases)
    answers = {one.answer for one in rows}
    if unanswered or (asked and "not believed" in answers):
        return NO_ANSWER
    # What cannot be compared and was anyway is no verdict.
    return WORSE if "worse" in answers and not before.doubts else 0


def _named(results: tuple[Path, ...], against: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the new result, then the older ones."""
    first, *rest = results
    if against:
        return first, *against, *rest
    if not rest:
        message = f"{first}: nothing to compare it with"
        raise Unusable(message, "compare OLD NEW, or NEW --against RESULT...")
    second, *more = rest
    if more:
        hint = "name the new one first: compare NEW --against OLDER..."
        raise Unusable(f"{len(results)} results, and which is the new one?", hint)
    return second, first


def _check(new: Summed, reference: str | None, metrics: tuple[str, ...]) -> None:
    """Raise Unusable for a label that the new result does not have."""
    cases = by_key(new.summary).values()
    servers = sorted({one.case.server for one in cases})
    if reference is not None and reference not in servers:
        message = f"--reference {reference}: {new.path} has no such server"
        raise Unusable(message, f"there are: {', '.join(servers)}")
    labels = sorted({line.metric for case in cases for line in case.lines})
    for one in metrics:
        if one not in labels:
            message = f"--metric {one}: {new.path} has no such metric"
            raise Unusable(message, f"there are: {', '.join(labels)}")


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix(_PERCENT)) / (100 if text.endswith(_PERCENT) else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise Unusable(f"--least {text}: no share", 'write it like "3%" or 0.03')
    return share
