"""Readers of other tools' results: a source of text, and rows of facts made from it."""

import io
import itertools
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

from benchforge.parts.kinds import Kind
from benchforge.parts.part import Part
from benchforge.text.readable import too_many

HEAD_BYTES, LINE_BYTES, TEXT_BYTES = 1 << 20, 1 << 20, 1 << 26


@dataclass(frozen=True, slots=True)
class Fact:
    """A number or a word of a result, with what a check must know about it."""

    value: float | str
    unit: str = "1"
    "Unit of the value: s, 1/s, B, B/s, cores, or 1 for a number."
    resolution: float = 0.0
    "Largest distance of the true value from the value: one step of the last printed digit."
    estimator: str = ""
    "The tool's way to compute the value, where the name of the fact does not say it."
    origin: str = ""
    "Place of the fact in its source, such as `line 4`."

    @property
    def low(self) -> float:
        """Lowest true value that the tool may have rounded to this one."""
        return float(self.value) - self.resolution

    @property
    def high(self) -> float:
        """Highest true value that the tool may have rounded to this one."""
        return float(self.value) + self.resolution


@dataclass(frozen=True, slots=True)
class Row:
    """The facts of one measurement. A fact that the source lacks is unknown."""

    name: str
    facts: Mapping[str, Fact]
    where: str = ""
    "Place of the row in its source."
    table: str = ""
    "Name of the table, whose rows can be compared with each other; empty for a row alone."
    times: tuple[float, ...] = ()
    "Measured value of each run in seconds, where the source lists them."


class Source:
    """A file or a pipe, read once, in bounded memory. Its content is foreign."""

    def __init__(self, name: str, stream: BinaryIO) -> None:
        self.name, self._stream, self._start = name, stream, stream.read(HEAD_BYTES)
        self.head = self._start.decode("utf-8-sig", "replace")
        "The first MiB."

    def lines(self) -> Iterator[str]:
        """Yield each line, without its end. Raises ValueError for one of more than 1 MiB."""
        start = io.BytesIO(self._start)
        for number in itertools.count(1):
            if not (line := start.readline()).endswith(b"\n"):
                line += self._stream.readline(LINE_BYTES + 1)
            if len(line) > LINE_BYTES:
                raise ValueError(f"line {number}: {too_many(len(line), LINE_BYTES, 'bytes')}")
            if not line:
                return
            yield line.decode("utf-8-sig", "replace").rstrip("\r\n")

    def text(self) -> str:
        """Return everything. Raises ValueError for more than 64 MiB."""
        content = self._start + self._stream.read(TEXT_BYTES)
        if len(content) > TEXT_BYTES:
            raise ValueError(too_many(len(content), TEXT_BYTES, "bytes"))
        return content.decode("utf-8-sig", "replace")


class Reader(Part):
    """Reads the results that another tool prints or publishes, for `benchforge audit`."""

    kind: ClassVar[Kind] = "reader"

    @abstractmethod
    def claims(self, head: str) -> bool:
        """Return True if a source that begins like this is the reader's."""

    @abstractmethod
    def rows(self, source: Source) -> Iterator[Row]:
        """Yield the rows of a source. Raises ValueError that names the line or field at fault."""
