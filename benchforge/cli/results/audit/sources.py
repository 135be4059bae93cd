"""Sources of an audit, the reader of each, and the facts that options state."""

import codecs
import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO

from pydantic import JsonValue

from benchforge.cli.results.audit.facts import CHECKED_FACTS, TIMES, is_percentile
from benchforge.errors import BenchforgeError, Unusable
from benchforge.model.values.units import Duration
from benchforge.parts.reader import Fact, Reader, Source
from benchforge.parts.registry import Registry
from benchforge.suite.toml.models import typed
from benchforge.text import door
from benchforge.text.readable import listed

STDIN = "-"


def opened(
    paths: Sequence[str], passed_over: Callable[[str], None]
) -> Iterator[tuple[Source, bool]]:
    """Yield each source, and whether it is in a folder; name what there cannot be opened.

    Raises Unusable for an unreadable path.
    """
    for named in paths:
        if named == STDIN:
            yield Source("standard input", plain(sys.stdin.buffer)), False
            continue
        path = Path(named)
        try:
            if path.is_dir():
                yield from ((source, True) for source in _below(path, passed_over))
            else:
                with path.open("rb") as stream:
                    yield Source(named, plain(stream)), False
        except OSError as error:
            hint = "name a file, a folder, or - for standard input"
            raise Unusable(f"{named}: {error.strerror}", hint) from error


_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]{0,200}\x07")
_TIME = re.compile(
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,60} \S{1,60}: "
    r"|\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]? "
    r"(?:std(?:out|err) [FP] )?"
)
"Prefix of a log's lines: the time; host and program, or the stream of a container."
_CHUNK = 1 << 16
_OF_GIT = ".git"  # no results, and thousands of files


class _Plain(io.RawIOBase):
    """A stream of text in UTF-8, without colours and the times of a log, from one in any UTF."""

    def __init__(self, stream: BinaryIO) -> None:
        self._chunks, self._rest = _plain(stream), b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and (chunk := next(self._chunks, None)) is not None:
            self._rest = chunk
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def plain(stream: BinaryIO) -> BinaryIO:
    """Return the text of a stream as the tool printed it. The first bytes tell its encoding."""
    return io.BufferedReader(_Plain(stream))


def _plain(stream: BinaryIO) -> Iterator[bytes]:
    chunk, rest = stream.read(_CHUNK), ""
    marks = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    decoder = codecs.getincrementaldecoder(marks.get(chunk[:2], "utf-8"))("replace")
    while chunk:
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        yield "".join(f"{_printed(line)}\n" for line in lines).encode()
        if len(rest) > _CHUNK:  # of a document on one line
            yield rest.encode()
            rest = ""
        chunk = stream.read(_CHUNK)
    yield _printed(rest + decoder.decode(b"", final=True)).encode()


def _printed(line: str) -> str:
    line = _COLOURS.sub("", line) if "\x1b" in line else line
    time = _TIME.match(line)
    return line[time.end() :] if time else line


def _below(folder: Path, passed_over: Callable[[str], None]) -> Iterator[Source]:
    for name in door.files(folder, lambda name: name != _OF_GIT):
        try:
            with door.stream(folder, name) as stream:
                yield Source(str(folder / name), plain(stream))
        except OSError as error:  # a link, a socket, or a file of somebody else
            passed_over(f"{folder / name}: {error.strerror}")


def readers(registry: Registry, named: str, columns: Mapping[str, str]) -> list[Reader]:
    """Return the reader of a name, or all that work. Raises Unusable for an unknown name."""
    if columns or named:
        options: dict[str, JsonValue] = {"columns": dict(columns)} if columns else {}
        return [_reader(registry, named or "columns", options)]
    made = []
    for name in registry.names("reader"):
        with contextlib.suppress(Unusable):
            made.append(_reader(registry, name, {}))
    return made


def _reader(registry: Registry, name: str, options: Mapping[str, JsonValue]) -> Reader:
    reader = typed(registry.part("reader", name), options)
    assert isinstance(reader, Reader)  # noqa: S101 - the registry looks at the kind
    return reader


def claimed(source: Source, candidates: Sequence[Reader]) -> list[tuple[Reader, Source]]:
    """Return the readers that claim a source, each with a source of its own to read.

    Raises ValueError for more than 64 MiB that several claim.
    """
    if len(candidates) == 1:
        return [(candidates[0], source)]
    claims = [entry for entry in candidates if entry.claims(source.head)]
    if len(claims) < 2:  # noqa: PLR2004 - a source is read once, so one reader streams
        return [(entry, source) for entry in claims]
    content = source.text().encode()
    return [(entry, Source(source.name, io.BytesIO(content))) for entry in claims]


def unread(source: Source, names: Sequence[str]) -> BenchforgeError:
    """Return the error for a source that no reader claims."""
    if not source.head.strip():
        return Unusable(f"{source.name}: it is empty", "did the load tool print to stderr?")
    others = f"name its reader with --as: {listed(names, 30)}; or the columns of a table"
    hint = _columns_hint(source) or others
    return Unusable(f"{source.name}: no reader knows this content", hint)


_NAME = r"(?i:name|framework|server|label)"
_FIELD = re.compile(rf'"({_NAME})"\s*:|"([^"\\\n]{{1,40}})"\s*:\s*"?-?\d')
_TITLES = re.compile(
    r"^([^\n|]{0,200}\|.{0,2000})\n[ \t|:-]{3,2000}$|\A([^\n,]{1,40}(?:,[^\n,]{1,40})+)\n",
    re.MULTILINE,
)
_LIKELY = {
    "name={}": re.compile(rf"\b{_NAME}$"),
    "rate={}": re.compile(r"(?<![a-zA-Z])(?i:rps|qps|rate|reqs?|requests?)(?![a-z])"),
    "mean={}:ms": re.compile(r"(?<![a-zA-Z])(?i:latency|lat|average|avg|mean)(?![a-z])"),
}


def _columns_hint(source: Source) -> str:
    """Return the command that reads a table of this beginning; empty if it has no rate."""
    is_json = source.head.lstrip()[:1] in {"{", "["}
    fields = (_FIELD if is_json else _TITLES).findall(source.head)
    texts = map("".join, fields if is_json else fields[:1])
    titles = list(filter(None, dict.fromkeys(re.split(r"\s*[|,]\s*", "|".join(texts)))))
    words = {
        fact: f"--column {quote(fact.format(title))}"
        for fact, likely in _LIKELY.items()
        for title in reversed(titles)
        if likely.search(title)
    }
    command = f"benchforge audit {quote(source.name)} {' '.join(words.values())}"
    text = f"a table of {listed(titles, 8)}? name its columns, with the unit of times: {command}"
    return text if "rate={}" in words else ""


_BITS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
ORIGIN = "by the auditor"


def number(name: str, text: str) -> Fact:
    """Return an option's text as a fact. Raises Unusable for no number."""
    if not re.fullmatch(r"\d{1,12}(\.\d{1,6})?", text) or not float(text):
        raise Unusable(f"--{name} {text}: not a number above 0", f"write it like --{name} 64")
    unit = {"body": "B", "cores": "cores"}.get(name, "1")
    return Fact(float(text), unit, origin=ORIGIN)


def duration(text: str) -> Fact:
    """Return a duration as a fact. Raises Unusable for another text."""
    if seconds := Duration.typed(text):
        return Fact(float(seconds), "s", 0.0, "asked", ORIGIN)
    raise Unusable(f"--duration {text}: not a duration", "write it like --duration 15s")


def link(text: str) -> Fact:
    """Return the speed of a link as a fact in bytes per second. Raises Unusable for no speed."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*([kKMGT]?)bit/s", text)
    if not match or not float(match[1]):
        raise Unusable(f"--link {text}: not a speed", "write it like --link 10Gbit/s")
    return Fact(float(match[1]) * _BITS[match[2]] / 8, "B/s", origin=ORIGIN)


def column(text: str) -> tuple[str, str]:
    """Return fact and column of FACT=TITLE. Raises Unusable where there is no `=`."""
    fact, equals, title = text.partition("=")
    if not equals or not fact or not title:
        raise Unusable(f"--column {text}: not FACT=TITLE", "write it like --column mean=avg_ms:ms")
    if fact not in CHECKED_FACTS and not is_percentile(fact):
        near = [f"did you mean {name}?" for name in get_close_matches(fact, CHECKED_FACTS, 1)]
        hint = near[0] if near else f"facts: p99, {listed(sorted(CHECKED_FACTS), 50)}"
        raise Unusable(f"--column {text}: no check uses a fact {fact!r}", hint)
    if (fact in TIMES or is_percentile(fact)) and ":" not in title:
        hint = f"name its unit, as in --column {fact}={title}:ms"
        raise Unusable(f"--column {text}: {fact} is a time, in a unit that is not stated", hint)
    return fact, title


_FACTS: Mapping[str, Callable[[str], Fact]] = {
    **{name: partial(number, name) for name in ("connections", "pipeline", "cores", "body")},
    "duration": duration,
    "link": link,
    "loop": lambda text: Fact(text, origin=ORIGIN),
}


def facts_of(options: Mapping[str, Any]) -> dict[str, Fact]:
    """Return the facts that options state, by the name of the fact."""
    stated = {name: text for name in _FACTS if (text := options[name]) is not None}
    return {name: _FACTS[name](text) for name, text in stated.items()}
