"""`benchforge compare A B --rebaseline`: A's code measured again, beside B's, in the same blocks.

Two results of two days differ by more than their code; so the older code is checked out by the
commit that its result recorded, and both are measured as cases of one suite.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchforge.cli.outcome import FAILS, NO_ANSWER, Shown
from benchforge.cli.run import Given, begin
from benchforge.cli.say import counted, say, show
from benchforge.errors import CannotKeep, Unusable
from benchforge.model.code import Code
from benchforge.model.folder import read_header, read_summary
from benchforge.model.result import Header
from benchforge.model.titled import titled
from benchforge.model.trial import CaseName
from benchforge.registry import Registry
from benchforge.run.execute import Limits
from benchforge.run.keep import whole
from benchforge.run.resume import begun
from benchforge.stats.rebaseline import Changed, changed
from benchforge.suite.document import Tables
from benchforge.suite.layers import layered
from benchforge.suite.rebaseline import Again, before, cannot, rebaselined, renamed, text
from benchforge.suite.redact import HIDDEN
from benchforge.suite.source import parsed, read

_MARK = "# Written by benchforge compare --rebaseline"
_NOTHING = "nothing can be measured again"


def rebaseline(
    older: Path,
    newer: Path,
    output: Path,
    registry: Registry,
    limits: Limits,
    least: float = 0.03,
) -> int:
    """Write a suite beside the newer result's, run it, and tell what changed.

    Each server of the older result whose commit is known stands in it once more as LABEL_before;
    why another does not is told. Changes below `least`, a share, are not told. Returns the exit
    code: 1 where something became worse, 4 where something has no believable answer, else 0.

    Raises Unusable where nothing can be measured again, CannotKeep where the suite cannot be
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
    given, shown = Given(None, (), ()), Shown(as_json=False, inconclusive_fails=False)
    code = begin(file, given, output, limits, registry, shown=shown, kept=folders.append)
    return max(code, _told(folders[0], servers, least))


def _again(then: Header, older: Path, tables: Tables, registry: Registry) -> dict[str, Again]:
    """Return what of the older result can stand again; tell of each other server why it cannot."""
    document = layered(
        parsed(f"the suite of {older}", then.suite),
        then.profile,
        tuple(then.settings.items()),
        registry,
    )
    declared = document.tables.get("servers", {})
    found: dict[str, Again] = {}
    for label in dict.fromkeys(case.server for case in then.cases):
        codes = [one for one in then.code if one.server == label]
        table = declared.get(label) if isinstance(declared, dict) else None
        again = Again(table, codes[0].commit or "") if isinstance(table, dict) and codes else None
        if why := _unknown(codes) or cannot(tables, label, again) or _secret(again):
            say(f"servers.{label}: not measured again: {why}")
        elif again is not None:
            found[label] = again
    return found


def _unknown(codes: list[Code]) -> str:
    """Return why it is not known what was served; empty if it is."""
    if not codes:
        return "no commit was recorded"
    if len(codes) > 1:
        return "it varied what it served"
    (code,) = codes
    return "" if code.rebuilds else f"it was the {code.told}"


def _secret(again: Again | None) -> str:
    hidden = again is not None and HIDDEN in text({"servers": again.table})
    return "a secret of it was not kept" if hidden else ""


def _write(file: Path, told: str) -> None:
    """Write the suite where the newer one stands: relative paths in it start there."""
    try:
        if file.exists() and not file.read_text().startswith(_MARK):
            raise Unusable(f"{file}: exists, and is not of our making", "move it away")
        whole(file, told)
    except OSError as error:
        hint = "the suite has to stand beside the newer result's"
        raise CannotKeep(f"{file}: {error.strerror}", hint) from error


def _told(folder: Path, servers: Mapping[str, Again], least: float) -> int:
    found = list(changed(read_summary(folder), partial(_older, servers), least))
    for one in found:
        show(_line(one))
    states = {one.change.state for one in found}
    return NO_ANSWER if "no model" in states else FAILS if "worse" in states else 0


def _older(servers: Mapping[str, Again], case: CaseName) -> CaseName | None:
    if case.server not in servers:
        return None
    vary = {renamed(path, case.server): value for path, value in case.vary.items()}
    return case.model_copy(update={"server": before(case.server), "vary": vary})


def _line(one: Changed) -> str:
    what = f"{one.case.title}: {titled(one.line.metric, one.line.of)}"
    change = one.change.change
    if change.value is None or change.low is None or change.high is None:
        ratio = "" if change.value is None else f"{change.value:.3f} times as before, "
        return f"{what}: {ratio}not judged: {change.why}"
    interval = f"{change.level:.0%} interval {change.low:.3f} to {change.high:.3f}"
    told = f"{change.value:.3f} times as before ({interval}, {counted(one.blocks, 'block')})"
    return f"{what}: {one.change.state}: {told}"
