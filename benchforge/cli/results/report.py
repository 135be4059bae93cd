"""What is shown of a result: files beside it, and a table; at the end of a run, or later."""

import os
import shlex
import shutil
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from benchforge.cli.screen.say import say, show
from benchforge.errors import CannotKeep, Unusable
from benchforge.model.files.file import Parsed, parse
from benchforge.model.files.folder import HEADER, MANIFEST, SUMMARY, read_header
from benchforge.model.files.manifest import Manifest
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.registry import Registry
from benchforge.results.conclude import Summed, results_in, summed
from benchforge.results.reports import REPORTERS, renew_reports, reporter, write_reports
from benchforge.run.disk.manifest import with_reports_anew
from benchforge.run.disk.result_writer import ResultWriter, whole
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.disk.space import full
from benchforge.text import safe
from benchforge.text.readable import counted, listed

PAGE = "report.html"
ALL = "all"  # --why without an id
PAPER = 120  # columns where there is no terminal; the files have everything


def main(
    result: Path | None, names: tuple[str, ...], output: str | None, why: str | None, opened: bool
) -> int:
    """Regenerate summary and reports of a result from its trials, and print the answers."""
    registry, result = Registry(), result or _newest(Path("results"))
    for name in names:
        reporter(registry, name)  # one that is not known is told before anything is read
    if result.is_file():
        raise Unusable(
            f"{result}: is a file", "name the folder of a result, which contains the trials"
        )
    if why is not None:
        summary = _only(summed(result, registry), why)
        show(_text("why", *summary, registry), painted=True)
        return 0
    if opened:
        return _open(result)
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
        paths += write_reports(source.summary, source.trials, registry, source.path, wanted, into)
        if not names and into == source.path:
            paths += renew_reports(source.summary, source.trials, registry, into)
    except OSError as error:
        raise _cannot(error) from error
    finally:
        show(_shown(source.summary, source.trials, registry, as_json=False), painted=True)
    path = source.path
    del source  # a manifest takes as much memory
    if into == path:
        _renew_manifest(into)
    say(_message(paths, into) if paths else "nothing written: the reporters have nothing to report")


def _renew_manifest(folder: Path) -> None:
    """List the reports as they are now. A run that goes on has no manifest yet."""
    manifest = parse(folder, MANIFEST, Manifest)
    if isinstance(manifest, Parsed):
        try:
            whole(folder, MANIFEST, with_reports_anew(manifest.model, folder))
        except OSError as error:
            raise _cannot(error) from error


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
    summary: Summary,
    trials: Sequence[Trial],
    registry: Registry,
    keep: ResultWriter,
    suite: str,
    further: Sequence[str] = (),
    *,
    as_json: bool,
) -> None:
    """Write summary and reports beside the result, and print the table or the summary as JSON.

    Commands in it name `suite`. `further` names reporters beside those that every run uses. Raises
    CannotKeep when they cannot be written; the table is printed all the same.
    """
    try:
        paths = _written(summary, trials, registry, keep, further)
    finally:
        text = _shown(summary, trials, registry, as_json=as_json)
        named = text if as_json else text.replace("run SUITE", f"run {safe.word(suite)}")
        show(named, painted=not as_json)
    say(_message(paths, keep.folder))


def _message(paths: Sequence[Path], into: Path) -> str:
    """Return which files were written: the folder of most of them once, and each folder below."""
    below = [one.relative_to(into) if one.is_relative_to(into) else one.absolute() for one in paths]
    names = dict.fromkeys(
        str(one) if one.is_absolute() or len(one.parts) == 1 else f"{one.parts[0]}/"
        for one in below
    )
    written = f"written to {into}: {', '.join(names)}"
    if not (into / HEADER).exists():
        return written
    return f"{written}\nto see more: benchforge report {shlex.quote(str(into))} --open, or --why"


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
    return _text("terminal", summary, trials, registry)


def _text(name: str, summary: Summary, trials: Sequence[Trial], registry: Registry) -> str:
    """Return what a reporter has for the eye, as wide as the terminal, in colours if it has any."""
    live = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if live else PAPER
    colour = live and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return reporter(registry, name).text(summary, trials, width, colour=colour)


def _newest(folder: Path) -> Path:
    """Return the newest result in a folder."""
    results = list(results_in(folder))
    if not results:
        raise Unusable(f"{folder}: contains no result", "name the folder of a result")
    return max(results, key=lambda path: (read_header(path).created, path.name))


def _only(source: Summed, id_: str) -> tuple[Summary, Sequence[Trial]]:
    """Return a summary with the causes that a check has a finding in, and its trials."""
    causes = source.summary.causes
    ids = sorted({one.check.id for cause in causes for one in cause.findings})
    if id_ != ALL:
        wanted = next((one for one in ids if one.lower() == id_.lower()), None)
        if wanted is None:
            message = f"--why {id_}: no finding of this check in {source.path}"
            raise Unusable(message, f"there are findings of {listed(ids, len(ids))}")
        causes = tuple(c for c in causes if any(one.check.id == wanted for one in c.findings))
    return source.summary.model_copy(update={"causes": causes}), source.trials


def _open(result: Path) -> int:
    """Open a result's page. Raises Unusable where there is none."""
    if not (page := result / PAGE).is_file():
        raise Unusable(f"{page}: is missing", f"write it: benchforge report {result}")
    if not webbrowser.open(page.resolve().as_uri()):
        raise Unusable("no browser was found", f"open the file {page.resolve()}")
    return 0
