"""Results and cache of benchforge on this disk: their list, and their removal."""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import click
from pydantic_core import PydanticCustomError, from_json

from benchforge.cli.console.say import printable, say, show
from benchforge.errors import BenchforgeError, CannotKeep, Unusable
from benchforge.model.files import folder as layout
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.file import MOST_BYTES, Parsed, parse
from benchforge.model.files.result import Header
from benchforge.model.trial.trial import Trial
from benchforge.model.values.bounds import bounded
from benchforge.model.values.units import Duration, Quantity
from benchforge.run.disk.leftovers import cleared, place
from benchforge.run.disk.manifest import LISTED, reports
from benchforge.run.disk.scratch import BESIDE, HALF, away, claim, emptied
from benchforge.run.disk.space import size_b
from benchforge.run.sandbox.keeper import family
from benchforge.run.sandbox.machine_lock import Wait, measuring
from benchforge.run.sandbox.procfs import named
from benchforge.text import door
from benchforge.text.readable import amount, counted

_KEY = re.compile("[0-9a-f]{32}")
_OF_HOSTS = re.compile("[0-9a-f]+-[0-9a-f]{8}|files")
_PAGE = re.compile("tmp[a-z0-9_]{8}")
# Of a trial that an end kept from being finished, or of an older benchforge: what it surely wrote.
_OF_A_TRIAL = re.compile(
    r"trial\.json|ceiling\.json|.*\.(out|err|conf)|server\.log|request-body|answer\.bin|usage\.csv|system\.csv"
)
_BY_NAME = re.compile(
    r"(result|summary|manifest|signed)\.json|signed\.json\.sig|report\.md|report\.html|raw\.md|numbers\.csv|searches\.csv|"
    r"charts/[a-z0-9-]+\.svg|"
    r"action-benchmark-(bigger|smaller)\.json|brief\.(md|svg)|github\.md|junit\.xml|numbers\.json|"
    rf"{re.escape(LISTED)}|{layout.SESSIONS}/\d{{4,}}\.json"
)
_MEASURED = re.compile(rf"(?P<folder>({layout.TRIALS}|{layout.CEILINGS})/\d{{4,}})/(?P<name>.+)")
_MOST_NAMED = 50


@dataclass(frozen=True)
class Remains:
    """A result, or an entry of the cache."""

    kind: Literal["result", "template", "runtime", "host", "page"]
    path: Path
    "Path of the item; for a runtime, the folder that the link points to."
    what: str
    "Description for a person: its nature and purpose."
    when: datetime
    "A result's begin, and the last use of all else."
    pieces: tuple[Path, ...]
    "All that is ours of it, in the order of removal."
    kept: tuple[Path, ...] = ()
    "Files of others in the folder. They stay, and so does the folder."
    header: Header | None = None
    "Header of a result."

    @cached_property
    def size_b(self) -> int:
        """The bytes that go with it."""
        return sum(map(_size_b, self.pieces))


def _size_b(piece: Path) -> int:
    try:
        return size_b(piece) if piece.is_dir() else piece.lstat().st_size
    except OSError:  # another benchforge removes it, too
        return 0


def in_cache() -> Iterator[Remains]:
    """Yield the complete entries of the cache: templates, runtimes, files of hosts, and pages."""
    try:
        templates, runtimes = place("templates"), place("runtimes")
    except RuntimeError:  # no home at all, and so no cache
        return
    for folder in _named(templates, _KEY):
        note = templates / f"{folder.name}.for"
        purpose = note.read_text() if note.is_file() else "purpose unknown"
        notes = (note,) if note.is_file() else ()
        yield Remains("template", folder, purpose, _used(folder), (*notes, folder))
    for link in _named(runtimes, _KEY):
        target = runtimes / link.readlink().name if link.is_symlink() else link
        if target.is_dir():
            yield Remains("runtime", target, _requires(target), _used(target), (link, target))
    for log in _named(runtimes, re.compile(rf"{_KEY.pattern}\.failed")):
        yield Remains("runtime", log, f"how a build failed of {_requires(log)}", _used(log), (log,))
    for name in ("hosts", "far"):  # the second one is of older versions
        for folder in _named(place(name), _OF_HOSTS):
            purpose = "files of users" if folder.name == "files" else "benchforge"
            yield Remains("host", folder, f"{purpose}, for runs", _used(folder), (folder,))
    for folder in _named(place("pages"), _PAGE):
        yield Remains("page", folder, "shown by report --open", _used(folder), (folder,))


def results(parent: Path) -> Iterator[Remains]:
    """Yield the results below a folder, or the folder itself: each has a readable result.json."""
    folders = [parent] if (parent / layout.HEADER).is_file() else _named(parent, re.compile(".*"))
    for folder in folders:
        if folder.name.startswith(BESIDE) or folder.is_symlink():  # on its way, or elsewhere
            continue
        try:
            head = layout.read_header(folder)
        except BenchforgeError:
            continue
        pieces, others = _pieces(folder, head)
        yield Remains("result", folder, _so_far(folder, head), head.created, pieces, others, head)


def remove(remains: Remains) -> str:
    """Remove our files of a result or an entry, and its folder when that is empty then.

    Returns who uses it, for a person: then all of it stays. Raises CannotKeep where the system
    refuses.
    """
    for pid in family():
        if pid != os.getpid() and f"{remains.path.resolve()}/" in named(pid):
            return named(pid)
    try:
        if (held := claim(remains.path.resolve())) is None:
            return "a benchforge that runs"
        try:
            _remove(remains)
        finally:
            os.close(held)
    except OSError as error:
        message = f"{error.filename or remains.path}: {error.strerror}"
        raise CannotKeep(f"{message}: not removed", "remove it by hand") from error
    return ""


def _remove(remains: Remains) -> None:
    """Remove it; killed meanwhile, what is there still is whole, or the next start clears it."""
    if remains.kind == "result":
        _remove_result(remains)
        return
    for piece in remains.pieces:
        if remains.kind == "template" and piece == remains.path:
            away(piece, HALF)  # what is left under its name would be taken for a template
        elif piece.is_dir() and not piece.is_symlink():
            emptied(piece)
            piece.rmdir()
        else:
            piece.unlink(missing_ok=True)


def _remove_result(remains: Remains) -> None:
    """Remove what is ours now: somebody may have added a file since it was listed."""
    folder, pieces, others = remains.path, remains.pieces, remains.kept
    if remains.header is not None:
        pieces, others = _pieces(folder, remains.header)
    if not others:
        away(folder.resolve(), BESIDE)
        return
    for piece in pieces:
        door.remove(folder, str(piece.relative_to(folder)))


def _named(parent: Path, pattern: re.Pattern[str]) -> list[Path]:
    if not parent.is_dir():
        return []
    return sorted(child for child in parent.iterdir() if pattern.fullmatch(child.name))


def _pieces(folder: Path, header: Header) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Tell our files of a result from others; its header goes last: till then it is a result."""
    tables = {f"tables/{label}.csv" for label in header.tables}
    runtimes = {f"{layout.RUNTIMES}/{label}.txt" for label in header.runtimes}
    names_of_pieces, others = tables | runtimes | reports(folder), []
    measured: dict[str, frozenset[str]] = {}
    pieces: list[Path] = []
    for name in door.files(folder):
        half = name.rpartition("/")[2].startswith(door.HALF)  # when its benchforge was killed
        mine = name in names_of_pieces or _BY_NAME.fullmatch(name) or half
        if not mine and (inside := _MEASURED.fullmatch(name)):
            folder_name = inside["folder"]
            if folder_name not in measured:
                measured[folder_name] = _kept(folder, folder_name)
            form = measured[folder_name] or _OF_A_TRIAL
            last = inside["name"]
            mine = last in form if isinstance(form, frozenset) else form.fullmatch(last) is not None
        if not mine:
            others.append(folder / name)
        elif name != layout.HEADER:
            pieces.append(folder / name)
    return (*pieces, folder / layout.HEADER), tuple(others)


def _kept(folder: Path, path: str) -> frozenset[str]:
    trial = parse(folder, f"{path}/{layout.TRIAL}", Trial)
    files: Collection[str] = ()
    if isinstance(trial, Parsed):
        files = trial.model.files
    elif isinstance(ceiling := parse(folder, f"{path}/{layout.CEILING}", Ceiling), Parsed):
        files = ceiling.model.trial.files
    return frozenset({*files, layout.TRIAL, layout.CEILING}) if files else frozenset()


def _so_far(folder: Path, header: Header) -> str:
    places: set[tuple[int, int]] = set()
    for name in layout.files_of(folder, Trial):
        try:
            trial = from_json(bounded(door.read(folder, name, MOST_BYTES)))
            if (trial.get("failure") or {}).get("subject") == "apparatus":
                continue  # it gave nothing, and is measured again
            places.add((int(trial["block"]), int(trial["position"])))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, AttributeError):
            continue
    most = "up to " if header.until is not None else "at most " if header.searches else ""
    ended = len(places) >= len(header.plan) or (bool(most) and _complete(folder))
    wanted = f"{most}{len(header.plan)}"
    if ended and header.until is not None:
        wanted = str(len(places))
    return f"{'finished' if ended else 'unfinished'}, {len(places)} of {wanted} measurements"


def _complete(folder: Path) -> bool:
    """Whether a result's own summary says that nothing is missing.

    With `until`, and where it searched for a rate, the plan does not tell: it has the most. The
    summary is written last; where more was measured later, it was complete already.
    """
    try:
        if door.size_of(folder, layout.SUMMARY) > MOST_BYTES:  # ours has a value in each line
            with door.stream(folder, layout.SUMMARY) as summary_file:
                return b'\n "complete": true' in summary_file.read(door.MIB)
        summary = from_json(bounded(door.read(folder, layout.SUMMARY, MOST_BYTES)))
    except (OSError, ValueError):
        return False
    return isinstance(summary, dict) and summary.get("complete") is True


def _used(folder: Path) -> datetime:
    return datetime.fromtimestamp(folder.lstat().st_mtime, UTC)


def _requires(folder: Path) -> str:
    try:
        return ", ".join((folder / "requirements.in").read_text().split("\n")).strip(", ")
    except OSError:
        return "purpose unknown"


class Age(Duration):
    """Seconds, also given in days."""

    units: ClassVar[dict[str, float]] = {**Duration.units, "d": 86400.0}
    wanted: ClassVar[str] = 'an age such as "30d" or "12h"'
    most: ClassVar[float] = Quantity.most


def _refuse(wait: Wait) -> None:
    """Raise Unusable: what is listed may be in use, or complete, once the other has measured."""
    raise Unusable(f"{wait.in_words}: nothing was removed", "clean when it has ended")


def used_until(older_than: str | None) -> datetime:
    """Return the latest begin or use of what goes; without an age it may be in the future."""
    if older_than is None:
        return datetime.max.replace(tzinfo=UTC)  # a clock that was set back hides nothing
    try:
        return datetime.now(UTC) - timedelta(seconds=float(Age.parse(older_than)))
    except (PydanticCustomError, OverflowError):
        hint = 'write it like "30d" or "12h"'
        raise Unusable(f"--older-than {older_than}: not a valid age", hint) from None


def show_group(title: str, group: Sequence[Remains]) -> None:
    """Print folders of one kind, with size, age and the files of others in them."""
    if not group:
        return
    total = sum(piece.size_b for piece in group)
    lines = [f"{title}: {counted(len(group), 'folder')}, {amount('B', total)}"]
    for folder in group:
        verb = "begun" if folder.kind == "result" else "used"
        when = f"{verb} {folder.when.astimezone():%Y-%m-%d %H:%M}"
        size = amount("B", folder.size_b).rjust(9)
        lines.append(f"  {size}  {when}  {folder.kind} {folder.path}: {folder.what}")
        names = folder.kept[:_MOST_NAMED]
        lines += (f"             stays: {name}, which benchforge did not write" for name in names)
        if (more := len(folder.kept) - _MOST_NAMED) > 0:
            lines.append(f"             and {more} more files of others")
    show("\n".join(lines))


def confirmed(remains: str, yes: bool) -> bool:
    """Ask a person whether to remove something, unless `yes` confirms it."""
    return yes or click.confirm(printable(f"remove {remains}?"), err=True)


def remove_all(wanted: Sequence[Remains], leftovers_beside: Path | None) -> None:
    """Remove folders and leftovers. Raises Unusable while another benchforge measures."""
    with measuring(_refuse):  # to remove loads the disk
        if leftovers_beside is not None and (gone := cleared(leftovers_beside)):
            say(gone)
        sizes_b = []
        for folder in wanted:
            size_b = folder.size_b
            if who := remove(folder):
                say(f"stays: {folder.path}: used by {who}")
            else:
                sizes_b.append(size_b)
        if wanted:
            say(f"removed {counted(len(sizes_b), 'folder')}, {amount('B', sum(sizes_b))}")
