"""`benchforge rebaseline A B`: A's code measured again, beside B's, in the same blocks.

Two results of two days differ by more than their code; so the older code is checked out by the
commit that its result recorded, and both are measured as cases of one suite.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchforge_results.conclude import summed
from benchforge_results.recomputed.large_summary import is_large

from benchforge.cli.measure.inputs import RunOptions
from benchforge.cli.measure.outcome import FAILS, NO_ANSWER
from benchforge.cli.measure.run import begin
from benchforge.cli.options import LEAST, argument, click_command, option
from benchforge.cli.screen.say import say, show
from benchforge.errors import CannotKeep, Unusable
from benchforge.model.files.folder import read_header, read_summary
from benchforge.model.files.result import Header
from benchforge.model.suite.code import Code
from benchforge.model.trial.answers.exposed_secrets import HIDDEN
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.metric_title import titled
from benchforge.registry import Registry
from benchforge.run.disk.result_writer import whole
from benchforge.run.resume import begun
from benchforge.suite.overrides.layers import layered
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.source import parsed, read
from benchforge.text.readable import counted, percent, times
from benchforge_commands.rebaseline.changes import CaseChange, changed
from benchforge_commands.rebaseline.suite import (
    RebaselinedServer,
    before,
    cannot,
    rebaselined,
    renamed,
    text,
)

_MARK = "# Written by benchforge rebaseline"
_NOTHING = "nothing can be measured once more"


@dataclass(frozen=True)
class RebaselineOptions:
    """Which results are compared, from which change on, and where the new one goes."""

    older: Path = argument(metavar="OLD")
    newer: Path = argument(metavar="NEW")
    least: float = LEAST
    output: Path = option(
        *("-o", "--output"),
        default=Path("results"),
        show_default=True,
        help="Folder below which the result gets a folder of its own.",
    )


@click_command("rebaseline", RebaselineOptions)
def command(options: RebaselineOptions) -> int:
    """Measure the commits of OLD again, together with the servers of NEW, and compare them.

    Both are measured in the same blocks, so that the code differs and not the day.

    Exit codes: 0 nothing is worse; 1 something is worse; 2 nothing can be measured again; 4
    something has no believable answer; 5 the result cannot be kept.
    """
    return rebaseline(options.older, options.newer, options.output, Registry(), options.least)


def rebaseline(
    older: Path, newer: Path, output: Path, registry: Registry, least: float = 0.03
) -> int:
    """Write a suite beside the newer result's, run it, and tell what changed.

    Each server of the older result whose commit is known stands in it once more as LABEL_before;
    why another does not is told. Changes below `least`, a share, are not told. Returns the exit
    code: 1 where something became worse, 4 where something has no believable answer, else 0.

    Raises Unusable where nothing can be measured once more, CannotKeep where the suite cannot be
    written, and what a run raises.
    """
    then, now = read_header(older), begun(newer)
    now.check_given(None, (), ())  # a setting that was secret is not kept
    written = now.suite_file(None)
    tables = layered(
        read(written), now.header.profile, tuple(now.header.settings.items()), registry
    ).tables
    if now.header.only:
        tables = {**tables, "only": list(now.header.only)}
    servers = _again(then, older, tables, registry)
    if not servers:
        hint = "measure a commit: commit what is changed, or name it with 'ref', and run again"
        raise Unusable(f"{older}: {_NOTHING}", hint)
    file = written.with_name(f"{written.stem}-before.toml")
    name = f"{now.header.name}-before"
    _write(file, f"{_MARK}\n{text(rebaselined(tables, name, servers))}")
    say(f"wrote {file}: {', '.join(map(before, servers))} as {older} had them")
    folders: list[Path] = []
    code = begin(file, output, RunOptions(registry), kept=folders.append)
    return max(code, _show_changes(folders[0], servers, least, registry))


def _again(
    then: Header, older: Path, tables: Tables, registry: Registry
) -> dict[str, RebaselinedServer]:
    """Return what of the older result can stand again; tell of each other server why it cannot."""
    document = layered(
        parsed(f"the suite of {older}", then.suite),
        then.profile,
        tuple(then.settings.items()),
        registry,
    )
    declared = document.tables.get("servers", {})
    servers_again: dict[str, RebaselinedServer] = {}
    for label in dict.fromkeys(case.server for case in then.cases):
        codes = [one for one in then.code if one.server == label]
        table = declared.get(label) if isinstance(declared, dict) else None
        again = (
            RebaselinedServer(table, codes[0].commit or "")
            if isinstance(table, dict) and codes
            else None
        )
        if why := _unknown(codes) or cannot(tables, label, again) or _secret(again):
            say(f"servers.{label}: not measured again: {why}")
        elif again is not None:
            servers_again[label] = again
    return servers_again


def _unknown(codes: list[Code]) -> str:
    """Return why it is not known what was served; empty if it is."""
    if not codes:
        return "no commit was recorded"
    if len(codes) > 1:
        return "its ref varied"
    (code,) = codes
    return "" if code.rebuilds else f"it was the {code.in_words}"


def _secret(again: RebaselinedServer | None) -> str:
    hidden = again is not None and HIDDEN in text({"servers": again.table})
    return "the result does not contain its secret" if hidden else ""


def _write(file: Path, content: str) -> None:
    """Write the suite where the newer one stands: relative paths in it start there."""
    try:
        if file.exists() and not file.read_text().startswith(_MARK):
            raise Unusable(f"{file}: exists, and was not written by benchforge", "move it away")
        whole(file.parent, file.name, content)
    except OSError as error:
        hint = "the suite must be in the folder of the newer result's suite"
        raise CannotKeep(f"{file}: {error.strerror}", hint) from error


def _show_changes(
    folder: Path, servers: Mapping[str, RebaselinedServer], least: float, registry: Registry
) -> int:
    # A large summary is not read as a whole: it is computed from the trials.
    summary = summed(folder, registry).summary if is_large(folder) else read_summary(folder)
    case_changes = list(changed(summary, partial(_older, servers), least))
    for case_change in case_changes:
        show(_line(case_change))
    states = {one.change.state for one in case_changes}
    return NO_ANSWER if "no model" in states else FAILS if "worse" in states else 0


def _older(servers: Mapping[str, RebaselinedServer], case: CaseName) -> CaseName | None:
    if case.server not in servers:
        return None
    vary = {renamed(path, case.server): value for path, value in case.vary.items()}
    return case.model_copy(update={"server": before(case.server), "vary": vary})


def _line(case_change: CaseChange) -> str:
    what = f"{case_change.case.title}: {titled(case_change.line.metric, case_change.line.of)}"
    change = case_change.change.change
    if change.value is None or change.low is None or change.high is None:
        ratio = "" if change.value is None else f"{times(change.value)} times as before, "
        return f"{what}: {ratio}not judged: {change.why}"
    interval = f"{percent(change.level)} interval {times(change.low)} to {times(change.high)}"
    evidence = (
        f"{times(change.value)} times as before ({interval}, "
        f"{counted(case_change.blocks, 'block')})"
    )
    return f"{what}: {case_change.change.state}: {evidence}"
