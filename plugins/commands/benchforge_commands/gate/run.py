"""`benchforge gate`: a suite and a base to verdicts, files and an exit code."""

import json
from pathlib import Path
from typing import TypedDict, Unpack

from pydantic_core import PydanticCustomError

from benchforge.cli.measure.lock import Lock
from benchforge.cli.screen.say import say, show, warn
from benchforge.errors import Unusable
from benchforge.model.files.folder import read_header
from benchforge.model.values.units import Share
from benchforge.registry import Registry
from benchforge_commands.duel.time_option import duration
from benchforge_commands.gate.against import against_results
from benchforge_commands.gate.beside import GateRequest, beside
from benchforge_commands.gate.files import check_badge, write
from benchforge_commands.gate.outcome import document
from benchforge_commands.gate.text import lines


class _Given(TypedDict):
    suite: Path
    profile: str | None
    only: tuple[str, ...]
    output: Path
    machine_lock: Lock


def main(
    base: str | None,
    limit: str,
    time_limit: str,
    lock: str | None,
    against: tuple[Path, ...],
    reference: str | None,
    comment: Path | None,
    junit: Path | None,
    badge: Path | None,
    as_json: bool,
    **words: Unpack[_Given],
) -> int:
    """Measure, print the verdicts, and write the files. Return the exit code."""
    check_badge(badge)
    request = GateRequest(limit=_share(limit), time_s=duration(time_limit), **words)
    registry = Registry()
    registry.listen(warn)
    if base is not None and not against and reference is None:
        outcome, ended = beside(request, base, lock, registry)
    elif base is None and against and reference is not None:
        outcome, ended = against_results(request, against, reference, registry)
    else:
        hint = "such as --base origin/main, or --against results --reference stable"
        raise Unusable("gate: needs --base, or --against with --reference", hint)
    if outcome.result and (holder := read_header(Path(outcome.result)).facts.get("lock")):
        outcome = outcome._replace(notes=(*outcome.notes, f"the machine's lock was {holder}"))
    if as_json:
        show(json.dumps(document(outcome), indent=1, allow_nan=False))
    else:
        show("\n".join(lines(outcome)))
    write(outcome, comment=comment, junit_xml=junit, badge=badge)
    if outcome.result:
        say(f"to see each trial: benchforge report {outcome.result}")
    return ended or outcome.exit_code


def _share(given: str) -> float:
    try:
        return float(Share.parse(float(given) if _plain(given) else given))
    except PydanticCustomError:
        raise Unusable(f"--limit {given}: not a share", 'write it like "5%" or 0.05') from None


def _plain(given: str) -> bool:
    return given.isascii() and given.replace(".", "", 1).isdigit()
