"""What is shown at the end of a run: files beside the result, and a table."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchforge.checks.summary import concluded
from benchforge.cli.say import say, show
from benchforge.errors import CannotKeep
from benchforge.model.ceiling import Ceiling
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.parts.part import Metric
from benchforge.registry import Registry
from benchforge.run.keep import Keep
from benchforge.run.reports import reporter, write_reports

PAPER = 120  # columns where there is no terminal; the files have everything


def reported(
    header: Header,
    trials: Sequence[Trial],
    sittings: Sequence[Sitting],
    ceilings: Sequence[Ceiling],
    metrics: Mapping[str, Metric],
    registry: Registry,
    keep: Keep,
    *,
    as_json: bool,
) -> Summary:
    """Write summary and reports beside the result, and print the table or the summary as JSON.

    Raises CannotKeep when they cannot be written; the table is printed all the same.
    """
    summary = concluded(header, trials, metrics, sittings, ceilings)
    try:
        paths = _written(summary, trials, registry, keep)
    finally:
        show(_shown(summary, trials, registry, as_json=as_json))
    say(f"written: {', '.join(map(str, paths))}")
    return summary


def _written(
    summary: Summary, trials: Sequence[Trial], registry: Registry, keep: Keep
) -> list[Path]:
    paths = [keep.write(keep.folder / "summary.json", summary)]
    try:
        paths += write_reports(summary, trials, registry, keep.folder)
    except OSError as error:
        raise CannotKeep(f"{error.filename}: {error.strerror}", "free some space") from error
    return paths


def _shown(summary: Summary, trials: Sequence[Trial], registry: Registry, *, as_json: bool) -> str:
    if as_json:
        return summary.model_dump_json(indent=1, by_alias=True)
    live = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if live else PAPER
    return reporter(registry, "terminal").text(summary, trials, width, colour=live)
