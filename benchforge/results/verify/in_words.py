"""Outcome of a verification in sentences: the answer first, what it leaves open last."""

from collections.abc import Iterator
from pathlib import Path

from benchforge.model.files.folder import SIGNATURE
from benchforge.results.recomputed.verified import Verified
from benchforge.results.verify.form import Level
from benchforge.text.readable import counted, exact

FORM = "its files agree in form; its numbers were not computed again: benchforge verify does"
ALONE = "alone; nothing was computed again: name its folder"
_SHOWS: dict[Level, str] = {
    "form": f"{FORM}, from --level numbers on",
    "numbers": "its summary and reports follow from its trials; whether the trials follow from the "
    "raw files is open: --level evidence",
    "evidence": "its numbers follow from its raw files",
}
"What a result shows where nothing differs, and what it leaves open, by level."


def answer_lines(folder: Path, verified: Verified, *, all_of_them: bool) -> Iterator[str]:
    """Yield the answer, then the first difference of each kind, or all of them."""
    state = "contradicted" if verified.differing else "not proved"
    answer = state if verified.differing or verified.not_proved else "proved"
    values, trials = counted(verified.proved, "value"), counted(verified.trials, "trial")
    yield (
        f"{folder}: {answer}: {values} of {trials} recomputed, {exact(verified.not_proved)} "
        f"not proved, {exact(len(verified.differing))} contradicted"
    )
    not_proved = list(map(str, verified.cannot))
    if verified.older:
        values = counted(verified.older, "value")
        not_proved.append(f"{values} that benchforge {verified.other} did not write")
    for title, lines in (("contradicted", verified.differing), ("not proved", not_proved)):
        most = len(lines) if all_of_them else 1
        yield from (f"{title}: {line}" for line in lines[:most])
        if lines[most:]:
            yield f"{exact(len(lines) - most)} more {title}: --all names them"
    if verified.other and verified.differing:
        yield f"benchforge {verified.other} wrote it: this version may compute differently"
    if verified.as_written:
        yield f"not confirmed by other files: {', '.join(verified.as_written)}"


def scope_line(level: Level, folder: Path, verified: Verified, signed: str) -> str:
    """Return what the result shows, and what it leaves open; `signed` says who signed what."""
    if verified.differing:
        return "the result shows nothing: its files contradict each other"
    if not signed and (folder / SIGNATURE).exists():
        signed = "it is signed, and by whom was not checked: name the signers with --signers FILE"
    alone = "nobody signed it: whether the raw files were measured, and whether more was, is open"
    by = signed or alone
    rest = ", as far as it is proved" if verified.not_proved else ""
    return f"the result shows: {_SHOWS[level]}{rest}; {by}"
