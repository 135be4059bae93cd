"""A summary too large to be read value by value: its lines, beside those of one computed again."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic_core import from_json

from benchforge.model.files.file import MOST_BYTES, FileFault
from benchforge.model.files.folder import SUMMARY
from benchforge.model.summary.summary import Summary
from benchforge.results.recomputed.verified import alike
from benchforge.run.disk.manifest import MOST_BYTES as LARGEST
from benchforge.text import door
from benchforge.text.readable import cut

_LONGER = 64  # characters by which another number may be longer
_SHOWN = 60


@dataclass(frozen=True)
class ComparedLines:
    """What came of comparing a summary line by line."""

    compared: int
    differing: tuple[FileFault, ...]


def is_large(folder: Path, most_bytes: int = MOST_BYTES) -> bool:
    """Whether a result's summary has more bytes than a file that is read as a whole may have."""
    try:
        return most_bytes < door.size_of(folder, SUMMARY) <= LARGEST
    except OSError:  # who reads the file says why
        return False


def compared_after(
    folder: Path, sessions: int, summary_after: Callable[[int], Summary]
) -> tuple[int, ComparedLines]:
    """Compare a result's summary, which may sum up fewer than all `sessions`.

    `summary_after` computes it after so many. Return the most that agree, or all, and what came of
    it. Raises OSError, and as `summary_after`.
    """
    of_all = compared_lines(folder, summary_after(sessions))
    if of_all.differing:
        for fewer in range(sessions - 1, -1, -1):
            compared = compared_lines(folder, summary_after(fewer))
            if not compared.differing:
                return fewer, compared
    return sessions, of_all


def compared_lines(folder: Path, again: Summary) -> ComparedLines:
    """Compare a result's summary with one computed again, line by line. Raises OSError.

    A file of ours has one value a line. The comparison ends where lines are of different values.
    """
    from benchforge.run.disk.result_writer import as_written  # noqa: PLC0415 - few are so large

    file, number, differing = folder / SUMMARY, 0, list[FileFault]()
    with door.stream(folder, SUMMARY) as stream:
        for number, line in enumerate(_lines(as_written(again)), 1):
            then = stream.readline(len(line) + _LONGER)
            if then == line:
                continue
            (name, value), (name_now, value_now) = _named(then), _named(line)
            if name == name_now and alike(value, value_now):
                continue
            message = f"{_shown(then)}, but recomputed it is {_shown(line)}"
            differing.append(FileFault(file, "", number, message))
            if name != name_now:
                return ComparedLines(number, tuple(differing))
        if stream.read(1):
            message = "goes on, but the recomputed summary ends here"
            differing.append(FileFault(file, "", number + 1, message))
    return ComparedLines(number, tuple(differing))


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    begun = b""
    for piece in pieces:
        *lines, begun = (begun + piece).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if begun:
        yield begun


def _named(line: bytes) -> tuple[bytes, object]:
    """Return what is beside the value of a line, and its value: text where it is not JSON."""
    name, colon, text = line.partition(b'": ')
    if not colon:
        text = line.lstrip()
        name = line[: len(line) - len(text)]
    value = text.rstrip(b",\n")
    try:
        return name + text[len(value) :], from_json(value)
    except ValueError:
        return line, value


def _shown(line: bytes) -> str:
    return cut(line.decode(errors="replace").strip().rstrip(","), _SHOWN) or "not there"
