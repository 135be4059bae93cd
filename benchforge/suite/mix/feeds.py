"""The values of a feed: where they come from, and in which order they are drawn."""

import csv
import hashlib
import io
import random
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from benchforge.errors import BenchforgeError
from benchforge.suite.mix.holes import Value
from benchforge.suite.mix.tables import Feed
from benchforge.text.readable import exact, figure

LARGEST_FILE = 32 << 20
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ    "
_POOL = 1 << 14
_SHOWN = 60

Row = Value | Mapping[str, str]
"A value, or the row of a file by its columns."


class WrongFile(BenchforgeError):
    """A file that is no feed."""


@dataclass(frozen=True)
class LoadedFeed:
    """A feed with its values at hand."""

    label: str
    feed: Feed
    rows: Sequence[Row]
    "All values in order; empty for texts, which are made."
    sha256: str = ""
    "Digest of the file; empty without one."

    @property
    def key(self) -> str:
        """Key of the digest of its file in a result."""
        return f"feed {self.label}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a file."""
        first = self.rows[0] if self.rows else None
        return tuple(first) if isinstance(first, Mapping) else ()

    def draws(self, seed: str) -> Iterator[Row]:
        """Yield its values in their order, by a generator of its own. `each once` ends."""
        rows, rng = self.rows, random.Random(f"{seed}:{self.label}")  # noqa: S311
        if self.feed.text is not None:
            yield from _texts(self.feed.text, rng)
        elif self.feed.order == "each once":
            yield from rows
        elif self.feed.order == "in order":
            while True:
                yield from rows
        elif (exponent := self.feed.exponent) is not None:
            ends = list(accumulate((n + 1) ** -exponent for n in range(len(rows))))
            while True:
                yield rows[bisect(ends, rng.random() * ends[-1], hi=len(rows) - 1)]
        elif self.feed.values is not None:
            deck = list(rows)
            while True:
                rng.shuffle(deck)
                yield from deck
        else:
            while True:
                yield rows[rng.randrange(len(rows))]


def _texts(lengths: tuple[int, int], rng: random.Random) -> Iterator[str]:
    pool = "".join(rng.choices(_LETTERS, k=_POOL + lengths[1]))
    while True:
        start, length = rng.randrange(_POOL), rng.randint(*lengths)
        yield pool[start : start + length]


def loaded(label: str, feed: Feed, folder: Path | None) -> LoadedFeed:
    """Return a feed with its values; a file's only with a folder. Raises WrongFile."""
    if feed.integers is not None:
        return LoadedFeed(label, feed, range(feed.integers[0], feed.integers[1] + 1))
    if feed.file is None or folder is None:
        return LoadedFeed(label, feed, feed.values or ())
    content = _content(folder / feed.file, feed.file)
    rows = tuple(_rows(feed.file, content))
    return LoadedFeed(label, feed, rows, hashlib.sha256(content).hexdigest())


def _content(path: Path, name: str) -> bytes:
    try:
        if not path.is_file():
            problem = "is not a file" if path.exists() else "does not exist"
            hint = f"it is relative to the suite's folder, {path.parent}"
            raise WrongFile(f"{name} {problem}", hint)
        if (size := path.stat().st_size) > LARGEST_FILE:
            problem = f"{figure(size / 2**20)} MiB: a feed has {LARGEST_FILE >> 20} MiB at most"
            raise WrongFile(f"{name} has {problem}", "take a sample of its rows")
        return path.read_bytes()
    except OSError as error:
        raise WrongFile(f"{name}: {error.strerror}") from error


def _rows(name: str, content: bytes) -> Iterator[Mapping[str, str]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongFile(f"{name}: not UTF-8: {error.reason} at byte {error.start}") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = next(reader, [])
        if not names or not all(names) or len(set(names)) < len(names):
            raise WrongFile(f"{name}:1: the first line does not name each column once")
        number = 0
        for number, cells in enumerate(reader, 1):  # noqa: B007 - it is the number of rows
            if len(cells) != len(names):
                problem = f"{exact(len(cells))} values below {exact(len(names))} columns"
                hint = f"columns: {', '.join(names)}"[:_SHOWN]
                raise WrongFile(f"{name}:{reader.line_num}: {problem}", hint)
            yield dict(zip(names, cells, strict=True))
        if not number:
            raise WrongFile(f"{name} has no rows below its columns")
    except csv.Error as error:
        raise WrongFile(f"{name}:{reader.line_num}: {error}") from error
