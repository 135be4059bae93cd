"""What is shown of a result at the end of a run: files beside it, and a table."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from benchforge.cli.console.outcome import Shown
from benchforge.cli.console.say import say, show
from benchforge.errors import CannotKeep
from benchforge.model.files.folder import HEADER, SUMMARY
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.results.report_files import REPORTERS, renew_reports, reporter, write_reports
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.run.disk.space import full
from benchforge.text import safe

PAPER = 120  # columns where there is no terminal; the files have everything


def reported(
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    keep: ResultWriter,
    run: str,
    output: Shown,
) -> None:
    """Write summary and reports beside the result, and print the table or the summary as JSON.

    Commands in it have `run`, the words of this run, in place of "run SUITE". Raises CannotKeep
    when they cannot be written; the table is printed all the same.
    """
    try:
        paths = _written(summary, trials, registry, keep, output.reports)
    finally:
        if output.as_json:
            text = safe.as_json(summary.model_dump_json(indent=1, by_alias=True))
        else:
            text = text_of("terminal", summary, trials, registry)
            text = text.replace("run SUITE", safe.word(run))
        show(text, painted=not output.as_json)
    say(files_written(paths, keep.folder))


def files_written(paths: Sequence[Path], into: Path) -> str:
    """Return which files were written: the folder of most of them once, and each folder below."""
    below = [one.relative_to(into) if one.is_relative_to(into) else one.absolute() for one in paths]
    names = dict.fromkeys(
        str(one) if one.is_absolute() or len(one.parts) == 1 else f"{one.parts[0]}/"
        for one in below
    )
    line = f"written to {into}: {', '.join(names)}"
    if not (into / HEADER).exists():
        return line
    return f"{line}\nto see more: benchforge report {shlex.quote(str(into))} --open, or --why"


def _written(
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    keep: ResultWriter,
    further: Sequence[str],
) -> list[Path]:
    paths = [keep.write(keep.folder / SUMMARY, summary)]
    names = tuple(dict.fromkeys((*REPORTERS, *further)))
    try:
        paths += write_reports(summary, trials, registry, keep.folder, names)
        paths += renew_reports(summary, trials, registry, keep.folder)
    except OSError as error:
        raise cannot_write(error) from error
    return paths


def cannot_write(error: OSError) -> CannotKeep:
    """Return the error that a report which cannot be written is."""
    hint = "free some space" if full(error) else "choose another folder with -o"
    return CannotKeep(f"{error.filename}: {error.strerror}", hint)


def text_of(name: str, summary: Summary, trials: Sequence[Trial], registry: Registry) -> str:
    """Return what a reporter has for the eye, as wide as the terminal, in colours if it has any."""
    live = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if live else PAPER
    colour = live and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return reporter(registry, name).text(summary, trials, width, colour=colour)
