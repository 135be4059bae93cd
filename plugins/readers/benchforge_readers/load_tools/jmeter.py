"""JMeter: a file of samples (.jtl) as CSV or XML, read sample by sample."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar
from xml.parsers import expat

from benchforge.plugin import Fact, Reader, Row, Source
from benchforge_readers.printed import unread
from benchforge_readers.records import Cells, rows_of

_NAMES = {
    "ts": "timeStamp",
    "t": "elapsed",
    "lt": "Latency",
    "ct": "Connect",
    "s": "success",
    "lb": "label",
    "rc": "responseCode",
    "rm": "responseMessage",
    "tn": "threadName",
    "by": "bytes",
    "na": "allThreads",
}
_DEEPEST = 100
_MS = 1e-3
_MOST_LABELS, _MOST_THREADS, _MOST_CUT = 1000, 50_000, 100
_BAD = ("4", "5")


class JmeterReader(Reader):
    """A file of samples of JMeter (.jtl), as XML or as CSV with a line of titles.

    Good to know:

    - Each label is a row. Its numbers are computed from its samples.
    - Rows of transactions are left out: they hold other samples.
    - A sample's `Latency` ends at the first byte, its `elapsed` at the last.
    """

    name: ClassVar[str] = "jmeter"

    def claims(self, head: str) -> bool:
        first = head.partition("\n")[0]
        return is_xml(head) or all(entry in first for entry in ("timeStamp", "elapsed", "label"))

    def rows(self, source: Source) -> Iterator[Row]:
        """Yield a row for each label, once all samples are read."""
        labels: dict[str, _Label] = {}
        threads: dict[str, tuple[float, float]] = {}
        samples = samples_of(source) if is_xml(source.head) else rows_of(source)
        cut: list[Row] = []
        for where, cells in samples:
            if isinstance(cells, Exception):
                cut = [*cut[:_MOST_CUT], unread(str(cells), where)]
                continue
            if cells.get("responseMessage", "").startswith("Number of samples in transaction"):
                continue
            name = cells.get("label", "")[:80]
            if name not in labels and len(labels) >= _MOST_LABELS:
                raise ValueError(f"{where}: more than {_MOST_LABELS} labels")
            label = labels.setdefault(name, _Label(where))
            began, elapsed = _time(cells, "timeStamp", where), _time(cells, "elapsed", where)
            label.add(cells, where, began, elapsed)
            thread = cells.get("threadName", "")[:200]
            earlier = threads.get(thread)
            # A sample that holds another one is its parent.
            if earlier and earlier[0] < began < earlier[1] - 2 < began + elapsed - 4:
                label.overlapping.add(where)
            if thread and (earlier is not None or len(threads) < _MOST_THREADS):
                threads[thread] = (began, began + elapsed)
        for name, label in labels.items():
            yield Row(name or "no label", label.facts(), label.where, table="samples")
        yield from cut


@dataclass
class _Place:
    """How often something was seen, and where first."""

    count: int = 0
    where: str = ""

    def add(self, where: str) -> None:
        self.count += 1
        self.where = self.where or where

    def fact(self) -> Fact:
        return Fact(float(self.count), origin=self.where)


@dataclass
class _Label:
    where: str
    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    least: float = math.inf
    most: float = 0.0
    began: float = math.inf
    ended: float = 0.0
    bytes: float = 0.0
    users: float = 0.0
    failed: int = 0
    connects: int = 0
    late_first_byte: _Place = field(default_factory=_Place)
    late_connect: _Place = field(default_factory=_Place)
    good_errors: _Place = field(default_factory=_Place)
    overlapping: _Place = field(default_factory=_Place)

    def add(self, cells: Mapping[str, str], where: str, began: float, elapsed: float) -> None:
        self.count += 1
        self.total += elapsed
        self.squares += elapsed * elapsed
        self.least, self.most = min(self.least, elapsed), max(self.most, elapsed)
        self.began, self.ended = min(self.began, began), max(self.ended, began + elapsed)
        self.bytes += _optional(cells, "bytes", where)
        self.users = max(self.users, _optional(cells, "allThreads", where))
        good = cells.get("success", "").lower() == "true"
        self.failed += not good
        latency, connect = _optional(cells, "Latency", where), _optional(cells, "Connect", where)
        self.connects += connect > 0
        if latency > elapsed + 1:
            self.late_first_byte.add(where)
        if 0 < latency < connect - 1:
            self.late_connect.add(where)
        if good and cells.get("responseCode", "")[:1] in _BAD and cells["responseCode"].isdigit():
            self.good_errors.add(where)

    def facts(self) -> dict[str, Fact]:
        mean = self.total / self.count
        spread = math.sqrt(max(0.0, self.squares / self.count - mean * mean))
        of_samples = "computed from the samples"

        def time(value: float) -> Fact:
            return Fact(value * _MS, "s", _MS, of_samples, self.where)

        facts = {
            "requests": Fact(float(self.count), "1", 0.0, of_samples, self.where),
            "mean": time(mean),
            "sd": time(spread),
            "min": time(self.least),
            "max": time(self.most),
            "duration": time(self.ended - self.began),
            "bytes": Fact(self.bytes, "B", 0.0, of_samples, self.where),
            "failed": Fact(float(self.failed), "1", 0.0, of_samples, self.where),
            "connects": Fact(float(self.connects), "1", 0.0, "of 1 ms or more", self.where),
            "late_first_byte": self.late_first_byte.fact(),
            "late_connect": self.late_connect.fact(),
            "good_errors": self.good_errors.fact(),
            "overlapping": self.overlapping.fact(),
        }
        if self.users:
            facts["users"] = Fact(self.users, "1", 0.0, "largest allThreads", self.where)
        return facts


def _time(cells: Mapping[str, str], name: str, where: str) -> float:
    text = cells.get(name, "")
    if not text.isdigit() or not text.isascii() or len(text) > 15:  # noqa: PLR2004
        raise ValueError(f"{where}: {name}: {text[:40]!r} is not a time in milliseconds")
    return float(text)


def _optional(cells: Mapping[str, str], name: str, where: str) -> float:
    text = cells.get(name, "")
    return _time(cells, name, where) if text and text != "null" else 0.0


def is_xml(head: str) -> bool:
    """Return True for the beginning of a file of samples as XML."""
    return head.lstrip().startswith("<") and "<testResults" in head


def samples_of(source: Source) -> Iterator[tuple[str, Cells]]:
    """Yield the place and the fields of each sample that no other request holds.

    Raises ValueError for what is no XML, or has a document type: entities may have any size.
    """
    parser = expat.ParserCreate("utf-8")
    samples = _Samples(parser)
    try:
        for line in source.lines():
            parser.Parse(f"{line}\n", False)
            yield from samples.taken()
        parser.Parse("", True)
    except expat.ExpatError as error:
        raise ValueError(f"line {error.lineno}: {expat.ErrorString(error.code)}") from None


class _Samples:
    """What the parser saw since the samples were taken."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self._parser, self._samples = parser, list[tuple[str, Mapping[str, str]]]()
        self._path: list[str] = []
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype

    def taken(self) -> list[tuple[str, Mapping[str, str]]]:
        samples, self._samples = self._samples, []
        return samples

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        # A request holds its redirects and embedded resources; a transaction holds requests.
        if tag in {"httpSample", "sample"} and "httpSample" not in self._path:
            cells = {_NAMES[name]: value for name, value in attributes.items() if name in _NAMES}
            self._samples.append((f"line {self._parser.CurrentLineNumber}", cells))
        self._path.append(tag)
        if len(self._path) > _DEEPEST:
            where = self._parser.CurrentLineNumber
            raise ValueError(f"line {where}: more than {_DEEPEST} elements inside each other")

    def _end(self, tag: str) -> None:
        self._path.pop()

    def _doctype(self, *_: object) -> None:
        raise ValueError(f"line {self._parser.CurrentLineNumber}: a document type is refused")
