"""`benchforge verify`: whether a result's numbers are those that its raw files give."""

from pathlib import Path

from benchforge.cli.screen.say import show
from benchforge.model.files.file import FileFault
from benchforge.registry import Registry
from benchforge.results.verify.compare import Verified, verify
from benchforge.text import safe
from benchforge.text.readable import counted

DIFFERS, UNREADABLE = 1, 2


def main(folder: Path, name_all: bool) -> int:
    """Recompute every number of a result from its raw files, and compare. Return the exit code."""
    verified = verify(folder, Registry())
    _show(verified.cannot, "cannot be recomputed", name_all=name_all)
    _show(verified.differing, "differ", name_all=name_all)
    show(f"{folder}: {_tally(verified)}")
    if verified.other and (verified.differing or verified.older):
        show(f"it was written by benchforge {verified.other}: this version may compute differently")
    if verified.as_written:
        show(f"not confirmed by other files: {', '.join(verified.as_written)}")
    return UNREADABLE if verified.cannot else DIFFERS if verified.differing else 0


def _show(faults: list[FileFault], what: str, *, name_all: bool) -> None:
    shown = faults if name_all else faults[:1]
    for fault in shown:
        show(safe.word(str(fault)))
    if left := len(faults) - len(shown):
        show(f"{left} more {what}: --all names them")


def _tally(verified: Verified) -> str:
    values, trials = counted(verified.compared, "value"), counted(verified.trials, "trial")
    what = f"{values} of {trials} recomputed"
    counts = [f"{len(verified.differing)} differ" if verified.differing else "all agree"]
    if verified.cannot:
        counts.append(f"{len(verified.cannot)} cannot be")
    if verified.older:
        counts.append(f"{verified.older} were not written then")
    return f"{what}: {', '.join(counts)}"
