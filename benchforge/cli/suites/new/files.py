"""Files of a new suite: a sample that runs as it is, a copy, or the mix of an access log."""

import contextlib
import os
import re
from pathlib import Path

from benchforge.cli.console.say import show
from benchforge.cli.suites.new.from_log.kinds import read
from benchforge.cli.suites.new.from_log.written import OWN, formulas, incomplete, to_fill
from benchforge.cli.suites.new.from_log.written import from_log as of_the_log
from benchforge.cli.suites.new.from_log.written import texts as of_log
from benchforge.cli.suites.schema.suite import of_suites
from benchforge.errors import CannotKeep, Unusable
from benchforge.run.disk.result_writer import whole
from benchforge.suite.toml.built_in import brought, names_like
from benchforge.text.program import program
from benchforge.text.readable import counted, exact

_STARTER = Path(__file__).parent / "starter"
SUITE = "suite.toml"
_APP = "sample_app.py"
_SCHEMA = "suite.schema.json"


def write_sample(suite: Path, source: str | None) -> None:
    """Write a suite of ours, or the sample. Raises Unusable, or CannotKeep for a file."""
    file = _STARTER / SUITE if source is None else brought().get(source)
    if file is None:
        raise Unusable(f"--from {source}: no such suite", names_like(Path(f"{source}")))
    text = file.read_text(encoding="utf-8")
    texts = {suite: re.sub(r"\A#:schema .*", f"#:schema {_SCHEMA}", text)}
    if source is None:
        texts[suite.with_name(_APP)] = (_STARTER / _APP).read_text(encoding="utf-8")
    show(f"wrote: {_kept(suite, texts)}\nnext:  {program()} run {suite}")


def write_suite_of_log(target: Path, source: Path, *, behind_proxy: bool) -> None:
    """Write the suite of an access log. Raises as `write_sample`, and Unusable for the log."""
    log = read(source, behind_proxy=behind_proxy)
    texts = of_log(log, source, target)
    wrote = _kept(target, texts)
    kinds = counted(len(log.kinds), "kind")
    show(f"wrote: {wrote}\nread:  {exact(log.taken)} requests of {kinds}")
    for reason, number in log.left_out.items():
        show(f"left out: {exact(number)} {reason}")
    for kind in incomplete(log):
        show(f"to complete: {kind}: a comment in {target}, since the log has no body")
    for part in of_the_log(log, texts):
        show(f"kept from the log: {part}")
    for cells in formulas(texts):
        show(f"beware: {cells} begin with = + - or @: a spreadsheet would run them")
    if (clients := log.shared.few_clients) is not None:
        few = counted(clients, "client")
        show(
            f"private: the log has {few}: each path and value may be of one client. If an address "
            "is that of a proxy, add --behind-proxy"
        )
    if unfilled := to_fill(texts):
        show(f"fill in: {OWN} in {', '.join(unfilled)}: each value may be a secret of one client")
    show(f"next:  set your server in {target}, then {program()} plan {target} --requests 3")


def _kept(suite: Path, texts: dict[Path, str]) -> str:
    """Write the files and the schema, and return their names.

    Raises Unusable for a file of another content, and for any suite; a schema is redrawn.
    """
    for file, text in texts.items():
        if os.path.lexists(file) and (file == suite or _content(file) != text.encode()):
            hint = f"give another PATH, such as a new folder: {program()} new suite bench"
            raise Unusable(f"{file}: exists already, and is not overwritten", hint)
    schema = suite.with_name(_SCHEMA)
    _write(texts | {schema: of_suites(builtin=False) + "\n"})
    return ", ".join(map(str, (*texts, schema)))


def _content(file: Path) -> bytes | None:
    with contextlib.suppress(OSError):
        return file.read_bytes()
    return None


def _write(texts: dict[Path, str]) -> None:
    """Write files. Raises Unusable without a folder, CannotKeep when one cannot be written."""
    try:
        # The suite last: before it is there, the same command may be given again.
        for file, text in reversed(texts.items()):
            file.parent.mkdir(parents=True, exist_ok=True)
            whole(file.parent, file.name, text)
    except FileExistsError as error:
        hint = "a suite's name ends in .toml"
        raise Unusable(f"{error.filename}: is not a folder", hint) from error
    except OSError as error:
        reason = f"{error.filename}: cannot be written: {error.strerror}"
        raise CannotKeep(reason, "give another PATH") from error
