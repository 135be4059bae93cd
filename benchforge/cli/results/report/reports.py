"""Reports of a stored result: files in its folder, and a table, as at the end of its run."""

import tempfile
import webbrowser
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchforge.checks.ways import reason, way_of_comparison
from benchforge.cli.console.named_file import without_suites
from benchforge.cli.console.reported import cannot_write, files_written, screen, text_of
from benchforge.cli.console.say import say, show
from benchforge.cli.results.report.command import ReportOptions
from benchforge.errors import CannotKeep, Unusable, can_write
from benchforge.model.files.file import Parsed, parse
from benchforge.model.files.folder import HEADER, MANIFEST, SUMMARY, read_header
from benchforge.model.files.manifest import Manifest
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.parts.registry import Registry
from benchforge.results.conclude import Summed, results_in, summed
from benchforge.results.report_files import REPORTERS, formed, renew_reports, write_reports
from benchforge.run.disk.leftovers import place
from benchforge.run.disk.manifest import with_reports_anew
from benchforge.run.disk.result_writer import ResultWriter, whole
from benchforge.run.disk.scratch import scratch_folder
from benchforge.text.readable import counted, listed

PAGE = "report.html"


def named_result(paths: Sequence[Path]) -> Path:
    """Return the result among paths, or the newest. Raises Unusable for several."""
    result, *others = without_suites(paths) or [_newest(Path("results"))]
    if others:
        message = f"{counted(len(others) + 1, 'result')}: a report is of one"
        raise Unusable(message, f"benchforge report {result}; or benchforge compare OLD NEW")
    return result


def written(result: Path, registry: Registry, options: ReportOptions) -> None:
    """Print the table of a result, and write its reports where the options say so.

    Raises Unusable for the folder of another result, CannotKeep for one that cannot be written.
    """
    into = Path(options.output) if options.output else result
    source = partial(summed, result, registry, with_trials=True)
    if into.resolve() == result.resolve():
        if not (options.write or options.output):
            return _write(source(), registry, options, None)
        with ResultWriter(result).held():
            return _write(source(), registry, options, result)
    if (into / HEADER).exists():
        raise Unusable(f"-o {into}: is a different result", "name a new folder")
    read = source()
    with can_write(into, "choose another folder with -o"):
        into.mkdir(parents=True, exist_ok=True)
    return _write(read, registry, options, into)


def _write(source: Summed, registry: Registry, options: ReportOptions, into: Path | None) -> None:
    """Print the table of a result; write its reports into a folder, if there is one."""
    planned = counted(source.planned, "planned measurement")
    say(f"{source.path}: {counted(len(source.trials), 'trial')} of {planned}, attempts counted")
    paths: list[Path] = []
    try:
        if into is not None:
            paths = _files(source, registry, options.names, into)
    except OSError as error:
        raise cannot_write(error) from error
    finally:
        about = source.summary, source.trials, registry, source.path
        show(screen(*about, details=options.details), painted=True)
    path = source.path
    del source  # a manifest takes as much memory
    if into == path:
        _renew_manifest(path)
    if paths:
        say(files_written(paths, path if into is None else into))
    elif into is not None:
        say("nothing written: the reporters have nothing to report")


def _files(source: Summed, registry: Registry, names: Sequence[str], into: Path) -> list[Path]:
    """Write summary and reports, or what the named reporters make; return the files."""
    paths: list[Path] = []
    if not names:
        whole(into, SUMMARY, source.summary)
        paths.append(into / SUMMARY)
    wanted = tuple(dict.fromkeys(names)) or REPORTERS
    paths += write_reports(source.summary, source.trials, registry, source.path, wanted, into)
    if not names and into == source.path:
        paths += renew_reports(source.summary, source.trials, registry, into)
    return paths


def _renew_manifest(folder: Path) -> None:
    """List the reports as they are now. A run that goes on has no manifest yet."""
    manifest = parse(folder, MANIFEST, Manifest)
    if isinstance(manifest, Parsed):
        try:
            whole(folder, MANIFEST, with_reports_anew(manifest.model, folder))
        except OSError as error:
            raise cannot_write(error) from error


def one_report(source: Summed, registry: Registry, names: Sequence[str], end: str = "") -> str:
    """Return the one file with that end that a reporter makes; without a name, the table."""
    if len(names) > 1:
        hint = "name one reporter, or a folder"
        raise Unusable("-o -: prints the output of one reporter only", hint)
    name = next(iter(names), "terminal")
    if name in {"answer", "terminal"}:
        return text_of(name, source.summary, source.trials, registry)
    with scratch_folder() as scratch:
        parts = formed(source.summary, source.trials, registry, source.path, names, scratch)
        made = [scratch / name for _, name in parts if name.endswith(end)]
        if len(made) != 1:
            files = ", ".join(str(file.relative_to(scratch)) for file in made) or "no file"
            message = f"-o -: {names[0]} writes {files} for this result, not one file"
            raise Unusable(message, "name a folder with -o")
        return made[0].read_text(encoding="utf-8")


def shown_brief(source: Callable[[], Summed], registry: Registry, output: str | None) -> int:
    """Print the brief, or write it into the file of that name. Raises Unusable for other files."""
    file = Path(f"{output or '-'}")
    if file.suffix not in {".md", ".svg"} and output not in {None, "-"}:
        raise Unusable(f"-o {file}: a brief is Markdown or a drawing", "name FILE.md or FILE.svg")
    text = one_report(source(), registry, ("brief",), file.suffix or ".md")
    if output in {None, "-"}:
        show(text.rstrip("\n"))
        return 0
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise cannot_write(error) from error
    say(f"written: {file}")
    return 0


def _newest(folder: Path) -> Path:
    results = list(results_in(folder))
    if not results:
        raise Unusable(f"{folder}: contains no result", "name the folder of a result")
    return max(results, key=lambda path: (read_header(path).created, path.name))


def with_findings(source: Summed, id_: str | None) -> tuple[Summary, Sequence[Trial]]:
    """Return a summary with the causes in which a check has a finding, or all, and its trials."""
    causes = source.summary.causes
    ids = sorted({finding.check.id for cause in causes for finding in cause.findings})
    if id_ is not None:
        wanted = next((name for name in ids if name.lower() == id_.lower()), None)
        if wanted is None:
            reason_ = _why_not(source, id_.upper())
            message = f"--why {id_}: no finding of this check in {source.path}{reason_}"
            raise Unusable(message, f"there are findings of {listed(ids, len(ids))}")
        causes = tuple(c for c in causes if any(each.check.id == wanted for each in c.findings))
    return source.summary.model_copy(update={"causes": causes}), source.trials


def _why_not(source: Summed, id_: str) -> str:
    """Return why a check cannot be judged in any comparison of a result; empty where it can."""
    header, scenarios = source.header, {each.scenario for each in source.summary.comparisons}
    if header is None:
        return ""
    reasons = [reason(id_, way_of_comparison(header, scenario)) for scenario in scenarios]
    return f"; it is not judged: {reasons[0]}" if reasons and all(reasons) else ""


def open_page(source: Summed, registry: Registry) -> int:
    """Form the page of a result anew, and open it: the stored one may be of anybody.

    It stays in the cache, since the browser needs it: `clean` removes it. Raises CannotKeep where
    it cannot be written, and Unusable without a browser.
    """
    try:
        pages = place("pages")
        pages.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=pages))
        write_reports(source.summary, source.trials, registry, source.path, ("html",), folder)
    except (OSError, RuntimeError) as error:  # not writable; no home at all
        raise CannotKeep(f"the cache: {error}", "export XDG_CACHE_HOME=FOLDER") from error
    page = folder / PAGE
    if not webbrowser.open(page.as_uri()):
        raise Unusable("no browser was found", f"open the file {page}")
    return 0
