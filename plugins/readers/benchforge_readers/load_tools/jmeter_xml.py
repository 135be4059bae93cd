"""JMeter's samples as XML, one at a time, with the names of the columns of its CSV."""

from collections.abc import Iterator, Mapping
from xml.parsers import expat

from benchforge.plugin import Source

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


def is_xml(head: str) -> bool:
    """Return True for the beginning of a file of samples as XML."""
    return head.lstrip().startswith("<") and "<testResults" in head


def samples_of(source: Source) -> Iterator[tuple[str, Mapping[str, str]]]:
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
        reason = expat.ErrorString(error.code)
        raise ValueError(f"line {error.lineno}: {reason}") from None


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
