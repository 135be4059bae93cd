"""`benchforge verify`: whether a result's numbers are those that its raw files give."""

from collections.abc import Iterable
from pathlib import Path

from benchforge.cli.screen.say import show
from benchforge.model.files.folder import SIGNATURE
from benchforge.plugin import safe
from benchforge.registry import Registry
from benchforge.text.readable import counted, exact
from benchforge_results.recomputed.verified import Verified
from benchforge_results.verify.recompute.compare import verify
from benchforge_results.verify.signature import check_signature

CONTRADICTED, NOT_PROVED = 1, 2


def main(folder: Path, name_all: bool, signers: Path | None) -> int:
    """Recompute every number of a result from its raw files, and compare. Return the exit code."""
    verified = verify(folder, Registry())
    signed = "" if signers is None else check_signature(folder, signers, verified)
    if signers is None and (folder / SIGNATURE).exists():
        signed = "signed, and not checked: name the signers with --signers FILE"
    code = _code(verified)
    show(f"{folder}: {_ANSWERS[code]}: {_counts(verified)}")
    _show("contradicted", map(str, verified.differing), name_all=name_all)
    _show("not proved", _unproved(verified), name_all=name_all)
    if signed:
        show(safe.word(signed))
    if verified.other and verified.differing:
        show(f"benchforge {verified.other} wrote it: this version may compute differently")
    if verified.as_written:
        show(f"not confirmed by other files: {', '.join(verified.as_written)}")
    return code


_ANSWERS = {0: "proved", CONTRADICTED: "contradicted", NOT_PROVED: "not proved"}


def _code(verified: Verified) -> int:
    return CONTRADICTED if verified.differing else NOT_PROVED if verified.not_proved else 0


def _counts(verified: Verified) -> str:
    values, trials = counted(verified.proved, "value"), counted(verified.trials, "trial")
    others = (
        f"{exact(verified.not_proved)} not proved, {exact(len(verified.differing))} contradicted"
    )
    return f"{values} of {trials} recomputed, {others}"


def _unproved(verified: Verified) -> Iterable[str]:
    yield from map(str, verified.cannot)
    if verified.older:
        values = counted(verified.older, "value")
        yield f"{values} that benchforge {verified.other} did not write"


def _show(answer: str, lines: Iterable[str], *, name_all: bool) -> None:
    every_line = list(lines)
    shown = every_line if name_all else every_line[:1]
    for line in shown:
        show(safe.word(f"{answer}: {line}"))
    if left := len(every_line) - len(shown):
        show(f"{exact(left)} more {answer}: --all names them")
