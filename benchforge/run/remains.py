"""What benchforge has put on this disk: results and the cache, and nothing else."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from benchforge.errors import BenchforgeError, CannotKeep
from benchforge.model.folder import HEADER, SUMMARY, read_header, trial_files
from benchforge.model.result import Header
from benchforge.run.cache import place
from benchforge.run.keeper import family
from benchforge.run.processes import named
from benchforge.run.scratch import BESIDE, HALF, away, claim
from benchforge.run.space import size_b

_KEY = re.compile("[0-9a-f]{32}")
_REPORTS = (
    *("report.md", "report.html", "raw.md", "numbers.csv", "searches.csv", SUMMARY),
    *("action-benchmark-bigger.json", "action-benchmark-smaller.json"),
    *("github.md", "junit.xml", "numbers.json"),
)
# Of each folder inside a result: what is ours in it.
_INSIDE = {
    "tables": re.compile(r".*\.csv"),
    "runtimes": re.compile(r".*\.txt"),
    "sittings": re.compile(r"\d{4,}\.json"),
    "trials": re.compile(r"\d{4,}"),
    "ceilings": re.compile(r"\d{4,}"),
}


@dataclass(frozen=True)
class Remains:
    """A result, or an entry of the cache."""

    kind: Literal["result", "template", "runtime"]
    path: Path
    "Where it is; of a runtime, the folder that is linked to."
    what: str
    "For a person: what it is, and what for."
    when: datetime
    "A result's begin, and the last use of all else."
    pieces: tuple[Path, ...]
    "All that is ours of it, in the order of removal."
    kept: tuple[Path, ...] = ()
    "What others have put into it: it stays, and so does the folder."

    @property
    def size_b(self) -> int:
        """The bytes that go with it."""
        return sum(size_b(one) if one.is_dir() else one.lstat().st_size for one in self.pieces)


def in_cache() -> Iterator[Remains]:
    """Yield the templates and runtimes that were built; what is half made is not among them."""
    try:
        templates, runtimes = place("templates"), place("runtimes")
    except RuntimeError:  # no home at all, and so no cache
        return
    for folder in _named(templates, _KEY):
        note = templates / f"{folder.name}.for"
        told = note.read_text() if note.is_file() else "what for is not known"
        notes = (note,) if note.is_file() else ()
        yield Remains("template", folder, told, _used(folder), (*notes, folder))
    for link in _named(runtimes, _KEY):
        whole = runtimes / link.readlink().name if link.is_symlink() else link
        if whole.is_dir():
            yield Remains("runtime", whole, _requires(whole), _used(whole), (link, whole))
    for log in _named(runtimes, re.compile(rf"{_KEY.pattern}\.failed")):
        what = f"how a build failed of {_requires(log)}"
        yield Remains("runtime", log, what, _used(log), (log,))


def results(parent: Path) -> Iterator[Remains]:
    """Yield the results below a folder, or the folder itself where it is one.

    What is not known by a result.json that we can read is none.
    """
    for folder in [parent] if (parent / HEADER).is_file() else _named(parent, re.compile(".*")):
        half = folder.name.startswith(BESIDE)
        if half or folder.is_symlink() or not (folder / HEADER).is_file():
            continue
        try:
            header = read_header(folder)
        except BenchforgeError:
            continue
        ours, others = _pieces(folder)
        yield Remains("result", folder, _so_far(folder, header), header.created, ours, others)


def remove(one: Remains) -> str:
    """Remove what is ours of it, and its folder when that is empty then.

    Returns who uses it, for a person, where somebody does: then all of it stays. Raises CannotKeep
    where the system refuses.
    """
    for pid in family():
        if pid != os.getpid() and f"{one.path.resolve()}/" in named(pid):
            return named(pid)
    try:
        if (held := claim(one.path.resolve())) is None:
            return "a benchforge that runs"
        try:
            _remove(one)
        finally:
            os.close(held)
    except OSError as error:
        message = f"{error.filename or one.path}: {error.strerror}"
        raise CannotKeep(f"{message}: not removed", "remove it by hand") from error
    return ""


def _remove(one: Remains) -> None:
    """Remove it; killed meanwhile, what is there still is whole, or the next start clears it."""
    if one.kind == "result" and not one.kept:
        away(one.path.resolve(), BESIDE)
        return
    for piece in one.pieces:
        if one.kind == "template" and piece == one.path:
            away(piece, HALF)  # what is left under its name would be taken for a template
        elif piece.is_dir() and not piece.is_symlink():
            shutil.rmtree(piece)
        else:
            piece.unlink(missing_ok=True)
    if one.kind == "result":
        for name in _INSIDE:
            _remove_empty(one.path / name)


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()


def _named(parent: Path, pattern: re.Pattern[str]) -> list[Path]:
    if not parent.is_dir():
        return []
    return sorted(one for one in parent.iterdir() if pattern.fullmatch(one.name))


def _pieces(folder: Path) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Tell our files of a result from others; its header goes last: till then it is a result."""
    ours: list[Path] = []
    others: list[Path] = []
    for one in sorted(folder.iterdir()):
        inside = _INSIDE.get(one.name)
        if inside is not None and one.is_dir() and not one.is_symlink():
            for piece in sorted(one.iterdir()):
                (ours if inside.fullmatch(piece.name) or _half(piece) else others).append(piece)
        elif one.name in _REPORTS or _half(one):
            ours.append(one)
        elif one.name != HEADER:
            others.append(one)
    return (*ours, folder / HEADER), tuple(others)


def _half(file: Path) -> bool:
    """Whether a file was being written when its benchforge was killed."""
    return file.name.startswith(".") and file.name.endswith(".tmp")


def _so_far(folder: Path, header: Header) -> str:
    there: set[tuple[int, int]] = set()
    for file in trial_files(folder):
        try:
            trial = json.loads(file.read_bytes())
            there.add((int(trial["block"]), int(trial["position"])))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    most = "up to " if header.until is not None else "at most " if header.finds else ""
    ended = len(there) >= len(header.plan) or (bool(most) and _complete(folder))
    wanted = f"{most}{len(header.plan)}"
    if ended and header.until is not None:
        wanted = str(len(there))
    return f"{'finished' if ended else 'unfinished'}, {len(there)} of {wanted} measurements"


def _complete(folder: Path) -> bool:
    """Whether a result's own summary says that nothing is missing.

    With `until`, and where it searched for a rate, the plan does not tell: it has the most. The
    summary is written last; where more was measured later, it was complete already.
    """
    try:
        told = json.loads((folder / SUMMARY).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("complete") is True


def _used(folder: Path) -> datetime:
    return datetime.fromtimestamp(folder.lstat().st_mtime, UTC)


def _requires(folder: Path) -> str:
    try:
        return ", ".join((folder / "requirements.in").read_text().split("\n")).strip(", ")
    except OSError:
        return "what for is not known"
