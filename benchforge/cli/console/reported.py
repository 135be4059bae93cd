"""Output of a result at the end of its run: files beside it, and a table."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchforge.cli.console.say import say, show
from benchforge.errors import CannotKeep
from benchforge.model.files.folder import SUMMARY
from benchforge.model.summary.summary import Summary
from benchforge.model.summary.verdict import ComparisonState
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.results.report_files import REPORTERS, renew_reports, reporter, write_reports
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.run.disk.space import full
from benchforge.text import safe

FAILS, NO_ANSWER = 1, 4
EXIT_CODES: Mapping[ComparisonState, int] = {
    "decided": 0,
    "undecided": 0,
    "not comparable": NO_ANSWER,
    "broken": NO_ANSWER,
}
"Exit code of a run or a duel by the verdict on each comparison; the highest counts."

PAPER = 120  # columns where there is no terminal; the files have everything


@dataclass(frozen=True)
class Shown:
    """Options for the output of a result."""

    as_json: bool = False
    inconclusive_fails: bool = False
    "True if an inconclusive claim counts as one that fails."
    reports: Sequence[str] = ()
    "Reporters beside those that every run uses."
    details: bool = False
    "True for all numbers instead of the first screen."


def exit_code(summary: Summary, shown_result: Shown) -> int:
    """Return 4 where something has no believable answer, else 1 where a claim fails, else 0."""
    states = {verdict.state for verdict in summary.verdicts}
    compared_cases = (case for it in summary.comparisons for case in summary.cases_of(it))
    answered = all(case.answered(smoke=summary.smoke) for case in compared_cases)
    verdicts = filter(None, (comparison.verdict for comparison in summary.comparisons))
    compared = max((EXIT_CODES[verdict.state] for verdict in verdicts), default=0)
    if not answered or "invalid" in states or compared == NO_ANSWER:
        return NO_ANSWER
    failing = {"fails", "inconclusive"} if shown_result.inconclusive_fails else {"fails"}
    return FAILS if states & failing else 0


def reported(
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    writer: ResultWriter,
    run: str,
    output: Shown,
) -> None:
    """Write summary and reports beside the result, and print the table or the summary as JSON.

    Commands in the table have `run`, the words of this run, instead of "run SUITE". Raises
    CannotKeep where files cannot be written, after it printed the answer.
    """
    try:
        paths = _written(summary, trials, registry, writer, output.reports)
    finally:
        if output.as_json:
            text = safe.as_json(summary.model_dump_json(indent=1, by_alias=True))
        else:
            text = screen(summary, trials, registry, writer.folder, details=output.details)
            text = text.replace("run SUITE", safe.word(run))
        show(text, painted=not output.as_json)
    say(files_written(paths, writer.folder))


def files_written(paths: Sequence[Path], into: Path) -> str:
    """Return which files were written: the folder of most of them once, and each folder below."""
    below = [
        path.relative_to(into) if path.is_relative_to(into) else path.absolute() for path in paths
    ]
    names = dict.fromkeys(
        str(path) if path.is_absolute() or len(path.parts) == 1 else f"{path.parts[0]}/"
        for path in below
    )
    return f"written to {into}: {', '.join(names)}"


def _written(
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    writer: ResultWriter,
    further: Sequence[str],
) -> list[Path]:
    paths = [writer.write(writer.folder / SUMMARY, summary)]
    names = tuple(dict.fromkeys((*REPORTERS, *further)))
    try:
        paths += write_reports(summary, trials, registry, writer.folder, names)
        paths += renew_reports(summary, trials, registry, writer.folder)
    except OSError as error:
        raise cannot_write(error) from error
    return paths


def cannot_write(error: OSError) -> CannotKeep:
    """Return the error of a report that cannot be written."""
    hint = "free some space" if full(error) else "choose another folder with -o"
    return CannotKeep(f"{error.filename}: {error.strerror}", hint)


def screen(
    summary: Summary, trials: Sequence[Trial], registry: Registry, result: Path, *, details: bool
) -> str:
    """Return the first screen of a result, or its details; commands in it name the result."""
    text = text_of("terminal" if details else "answer", summary, trials, registry)
    return text.replace("report RESULT", f"report {shlex.quote(str(result))}")


def text_of(name: str, summary: Summary, trials: Sequence[Trial], registry: Registry) -> str:
    """Return the text of a reporter, as wide as the terminal, in colours if it has any."""
    live = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if live else PAPER
    colour = live and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return reporter(registry, name).text(summary, trials, width, colour=colour)
