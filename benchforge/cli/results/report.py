"""What is shown of a result: files beside it, and a table; at the end of a run, or later."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from benchforge.checks.summary import concluded
from benchforge.cli.say import counted, say, show
from benchforge.errors import CannotKeep, Unusable
from benchforge.model.ceiling import Ceiling
from benchforge.model.folder import HEADER, SUMMARY
from benchforge.model.result import Header
from benchforge.model.sitting import Sitting
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.parts.part import Metric
from benchforge.registry import Registry
from benchforge.run.keep import Keep, whole
from benchforge.run.reports import REPORTERS, renew_reports, reporter, write_reports
from benchforge.run.scratch import scratch_folder
from benchforge.run.space import full
from benchforge.run.summed import Summed, summed

PAPER = 120  # columns where there is no terminal; the files have everything


@click.command("report")
@click.argument("result", metavar="RESULT", type=click.Path(path_type=Path))
@click.option(
    *("--reporter", "names"),
    metavar="NAME",
    multiple=True,
    help="Only what this one makes; several may be named.",
)
@click.option(
    *("-o", "--output"),
    metavar="FOLDER",
    help="Write there, and not into the result; - prints what one reporter makes.",
)
def command(result: Path, names: tuple[str, ...], output: str | None) -> int:
    """Form summary and reports of a result again from its trials, and print the table.

    The run may have been interrupted, or still go on: then write elsewhere with -o. Reporters that
    come with benchforge: csv, html, markdown and terminal, which every run uses, and
    action-benchmark, github, json and junit.

    Exit codes: 0 written, whatever it says; 1 a file of the result is invalid; 2 it is no result,
    or a reporter is not known; 5 the reports cannot be written.
    """
    registry = Registry()
    for name in names:
        reporter(registry, name)  # one that is not known is told before anything is read
    if result.is_file():
        raise Unusable(f"{result}: is a file", "give the folder of a result: it has the trials")
    if output == "-":
        show(_printed(summed(result, registry), registry, names).rstrip("\n"))
        return 0
    if output is None or Path(output).resolve() == result.resolve():
        with Keep(result).held():
            _again(summed(result, registry), registry, names, result)
        return 0
    into = Path(output)
    if (into / HEADER).exists():
        raise Unusable(f"-o {into}: is another result", "name a folder of its own")
    found = summed(result, registry)
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "choose another folder with -o"
        raise CannotKeep(f"{error.filename or into}: {error.strerror}", hint) from error
    _again(found, registry, names, into)
    return 0


def _again(found: Summed, registry: Registry, names: Sequence[str], into: Path) -> None:
    planned = counted(found.planned, "planned measurement")
    say(f"{found.path}: {counted(len(found.trials), 'trial')} of {planned}, attempts counted")
    wanted = tuple(dict.fromkeys(names)) or REPORTERS
    paths: list[Path] = []
    try:
        if not names:
            whole(into / SUMMARY, found.summary)
            paths.append(into / SUMMARY)
        told = found.summary, found.trials, registry
        paths += write_reports(*told, found.path, wanted, into)
        if not names and into == found.path:
            paths += renew_reports(*told, into)
    except OSError as error:
        raise _cannot(error) from error
    finally:
        show(_shown(found.summary, found.trials, registry, as_json=False))
    say(_told(paths, into) if paths else "nothing written: there is nothing to tell")


def _printed(found: Summed, registry: Registry, names: Sequence[str]) -> str:
    """Return what the one reporter makes that is named; without a name, the table."""
    if len(names) > 1:
        raise Unusable("-o -: prints what one reporter makes", "name one, or a folder for several")
    if not names or names[0] == "terminal":
        return _shown(found.summary, found.trials, registry, as_json=False)
    with scratch_folder() as place:
        where = found.summary, found.trials, registry, found.path
        made = write_reports(*where, names, place, appends=False)
        if len(made) != 1:
            files = ", ".join(str(file.relative_to(place)) for file in made) or "no file"
            message = f"-o -: {names[0]} makes {files} of this result: it takes one file"
            raise Unusable(message, "name a folder with -o")
        return made[0].read_text(encoding="utf-8")


def reported(
    header: Header,
    trials: Sequence[Trial],
    sittings: Sequence[Sitting],
    ceilings: Sequence[Ceiling],
    metrics: Mapping[str, Metric],
    registry: Registry,
    keep: Keep,
    further: Sequence[str] = (),
    *,
    as_json: bool,
) -> Summary:
    """Write summary and reports beside the result, and print the table or the summary as JSON.

    `further` names reporters beside those that every run uses. Raises CannotKeep when they cannot
    be written; the table is printed all the same.
    """
    summary = concluded(header, trials, metrics, sittings, ceilings)
    try:
        paths = _written(summary, trials, registry, keep, further)
    finally:
        show(_shown(summary, trials, registry, as_json=as_json))
    say(_told(paths, keep.folder))
    return summary


def _told(paths: Sequence[Path], into: Path) -> str:
    """Return which files were written: the folder of most of them once."""
    names = [
        str(one.relative_to(into) if one.is_relative_to(into) else one.absolute()) for one in paths
    ]
    return f"written to {into}: {', '.join(names)}"


def _written(
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    keep: Keep,
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
        return summary.model_dump_json(indent=1, by_alias=True)
    live = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if live else PAPER
    return reporter(registry, "terminal").text(summary, trials, width, colour=live)
