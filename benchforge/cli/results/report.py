"""What is shown of a result: files beside it, and a table; at the end of a run, or later."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchforge.checks.summary import concluded
from benchforge.cli.screen.say import say, show
from benchforge.errors import CannotKeep, Unusable
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.folder import HEADER, SUMMARY
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.session import Session
from benchforge.model.trial.trial import Trial
from benchforge.parts.part import Metric
from benchforge.registry import Registry
from benchforge.results.conclude import Summed, summed
from benchforge.results.reports import REPORTERS, renew_reports, reporter, write_reports
from benchforge.run.disk.result_writer import ResultWriter, whole
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.disk.space import full
from benchforge.text import safe
from benchforge.text.readable import counted

PAPER = 120  # columns where there is no terminal; the files have everything


def main(result: Path, names: tuple[str, ...], output: str | None) -> int:
    """Regenerate summary and reports of a result from its trials, and print the tables."""
    registry = Registry()
    for name in names:
        reporter(registry, name)  # one that is not known is told before anything is read
    if result.is_file():
        raise Unusable(
            f"{result}: is a file", "name the folder of a result, which contains the trials"
        )
    if output == "-":
        show(_printed(summed(result, registry), registry, names).rstrip("\n"), painted=True)
        return 0
    if output is None or Path(output).resolve() == result.resolve():
        with ResultWriter(result).held():
            _again(summed(result, registry), registry, names, result)
        return 0
    into = Path(output)
    if (into / HEADER).exists():
        raise Unusable(f"-o {into}: is a different result", "name a new folder")
    source = summed(result, registry)
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "choose another folder with -o"
        raise CannotKeep(f"{error.filename or into}: {error.strerror}", hint) from error
    _again(source, registry, names, into)
    return 0


def _again(source: Summed, registry: Registry, names: Sequence[str], into: Path) -> None:
    planned = counted(source.planned, "planned measurement")
    say(f"{source.path}: {counted(len(source.trials), 'trial')} of {planned}, attempts counted")
    wanted = tuple(dict.fromkeys(names)) or REPORTERS
    paths: list[Path] = []
    try:
        if not names:
            whole(into, SUMMARY, source.summary)
            paths.append(into / SUMMARY)
        to_report = source.summary, source.trials, registry
        paths += write_reports(*to_report, source.path, wanted, into)
        if not names and into == source.path:
            paths += renew_reports(*to_report, into)
    except OSError as error:
        raise _cannot(error) from error
    finally:
        show(_shown(source.summary, source.trials, registry, as_json=False), painted=True)
    say(_message(paths, into) if paths else "nothing written: the reporters have nothing to report")


def _printed(source: Summed, registry: Registry, names: Sequence[str]) -> str:
    """Return what the one reporter makes that is named; without a name, the table."""
    if len(names) > 1:
        raise Unusable(
            "-o -: prints the output of one reporter only", "name one reporter, or a folder"
        )
    if not names or names[0] == "terminal":
        return _shown(source.summary, source.trials, registry, as_json=False)
    with scratch_folder() as place:
        where = source.summary, source.trials, registry, source.path
        made = write_reports(*where, names, place, appends=False)
        if len(made) != 1:
            files = ", ".join(str(file.relative_to(place)) for file in made) or "no file"
            message = f"-o -: {names[0]} writes {files} for this result, not one file"
            raise Unusable(message, "name a folder with -o")
        return made[0].read_text(encoding="utf-8")


def reported(
    header: Header,
    trials: Sequence[Trial],
    sessions: Sequence[Session],
    ceilings: Sequence[Ceiling],
    metrics: Mapping[str, Metric],
    registry: Registry,
    keep: ResultWriter,
    further: Sequence[str] = (),
    *,
    as_json: bool,
) -> Summary:
    """Write summary and reports beside the result, and print the table or the summary as JSON.

    `further` names reporters beside those that every run uses. Raises CannotKeep when they cannot
    be written; the table is printed all the same.
    """
    summary = concluded(header, trials, metrics, sessions, ceilings)
    try:
        paths = _written(summary, trials, registry, keep, further)
    finally:
        show(_shown(summary, trials, registry, as_json=as_json), painted=not as_json)
    say(_message(paths, keep.folder))
    return summary


def _message(paths: Sequence[Path], into: Path) -> str:
    """Return which files were written: the folder of most of them once."""
    names = [
        str(one.relative_to(into) if one.is_relative_to(into) else one.absolute()) for one in paths
    ]
    return f"written to {into}: {', '.join(names)}"


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
        raise _cannot(error) from error
    return paths


def _cannot(error: OSError) -> CannotKeep:
    hint = "free some space" if full(error) else "choose another folder with -o"
    return CannotKeep(f"{error.filename}: {error.strerror}", hint)


def _shown(summary: Summary, trials: Sequence[Trial], registry: Registry, *, as_json: bool) -> str:
    if as_json:
        return safe.as_json(summary.model_dump_json(indent=1, by_alias=True))
    live = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if live else PAPER
    return reporter(registry, "terminal").text(summary, trials, width, colour=live)
