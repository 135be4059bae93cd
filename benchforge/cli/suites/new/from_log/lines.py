"""The lines of an access log: combined or common format, or JSON lines of nginx and Caddy."""

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any, NamedTuple

from benchforge.errors import Unusable
from benchforge.text import safe

MOST_BYTES = 2 << 30
_LONGEST = 16_384  # bytes of a line: what follows is a line of its own
_LINE = re.compile(
    r"(?P<client>\S{1,200}) \S{1,200} .{0,200}?\[(?P<minute>[^\]]{17})[^\]]{0,20}\] "
    r'"(?P<request>[^"]{1,4100})" (?P<status>\d{3}) '
)
_REQUEST = re.compile(r"(?P<method>[A-Z]{3,10}) (?P<target>/[!-~]{0,4000})(?: HTTP/[\d.]{1,3})?")
_STATUS = re.compile("[1-9][0-9]{2}")
_WITH_PORT = re.compile(r"\[(.*)\](?::\d+)?|([^:]+):\d+")

HOLE = "{}"
"Segment of a pattern where a value stands, with a slash behind it if the path ends with one."
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,30}(?:\.[a-z0-9]{1,5})?|[a-z]{1,5}[0-9]{1,2}")
_MANY = 20  # different words in one place are values
_OFTEN = 0.02  # of all requests: a word that is as frequent is none of them

Pattern = tuple[str, ...]


class LogLine(NamedTuple):
    """A request that was logged."""

    client: str
    "Its address; of IPv6, the network of 64 bits, since one client has many addresses of it."
    minute: str
    "Empty if the log has no time."
    method: str
    path: str
    query: str
    status: int


def log_lines(log: Path) -> Iterator[LogLine | None]:
    """Yield each request; None for a line that is none. Raises Unusable for an unreadable file."""
    name = safe.word(str(log))
    try:
        if log.exists() and not log.is_file():
            raise Unusable(f"{name}: is not a file", "benchforge reads a log twice: give a file")
        with gzip.open(log) if log.suffix == ".gz" else log.open("rb") as file:
            rest = MOST_BYTES
            while rest > 0 and (line := file.readline(_LONGEST)):
                rest -= len(line)
                yield _json_line(line) if line.startswith(b"{") else _line(line)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = safe.word(getattr(error, "strerror", None) or str(error))
        raise Unusable(f"{name}: {reason}", "give the path of an access log") from error


def _line(line: bytes) -> LogLine | None:
    match = _LINE.match(line.decode("ascii", "replace"))
    return match and _logged(match["client"], match["minute"], match["request"], match["status"])


def _json_line(line: bytes) -> LogLine | None:
    """Return the request of a line with the fields of Caddy, or with variables of nginx."""
    try:
        fields: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        return None
    request = fields.get("request", "")
    if isinstance(request, dict):
        fields |= request

    def first(*names: str) -> str:
        return next((str(fields[name]) for name in names if fields.get(name)), "")

    target = first("request_uri") or "?".join(filter(None, (first("uri"), first("args"))))
    if not isinstance(request, str) or not request:
        request = f"{first('method', 'request_method')} {target}"
    logged_at = first("time_local", "time_iso8601", "ts", "msec", "time")
    if re.match(r"\d{10}", logged_at):  # of s, ms and ns since 1970: the first are those of s
        logged_at = str(int(logged_at[:10]) // 60)
    client = first("client_ip", "remote_ip", "remote_addr")
    return _logged(client, logged_at[:17], request, first("status"))


def _logged(client: str, minute: str, request: str, status: str) -> LogLine | None:
    match = _REQUEST.fullmatch(request)
    if match is None or _STATUS.fullmatch(status) is None:
        return None
    path, _, query = match["target"].partition("?")
    client = _sender(client) if ":" in client else client
    return LogLine(client, minute, match["method"], path, query, int(status))


@lru_cache(maxsize=10_000)
def _sender(client: str) -> str:
    client = _WITH_PORT.sub(r"\1\2", client) if _WITH_PORT.fullmatch(client) else client
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if not isinstance(address, IPv6Address):
        return client
    return str(address.ipv4_mapped or address.exploded[:19])


class Patterns:
    """The patterns of the paths that were counted."""

    def __init__(self, paths: Sequence[tuple[Pattern, int]], shared: Container[str]) -> None:
        """Learn which segments are words, from the segments of each path and their number.

        A word is `shared`: others may be the secret of a client.
        """
        self._often = _OFTEN * sum(number for _, number in paths)
        self._shared = shared
        self._words: dict[Pattern, Mapping[str, int]] = {}
        self._learn((), paths)

    def of(self, path: str) -> tuple[Pattern, tuple[str, ...]]:
        """Return the pattern of a path, and the values that stand in its places."""
        pattern: Pattern = ()
        values: list[str] = []
        for segment in segments(path):
            if segment in self._words.get(pattern, {}):
                pattern += (segment,)
            else:
                pattern += (hole(segment),)
                values.append(segment.removesuffix("/"))
        return pattern, tuple(values)

    def _learn(self, parent: Pattern, paths: Sequence[tuple[Pattern, int]]) -> None:
        """Learn the words behind a pattern, from the longer paths that begin with it."""
        depth = len(parent)
        counts: Counter[str] = Counter()
        for path, number in paths:
            word = path[depth].removesuffix("/")
            if is_word(word) and (not word or word in self._shared):
                counts[path[depth]] += number
        few = len(counts) <= _MANY
        words = {word: number for word, number in counts.items() if few or number >= self._often}
        self._words[parent] = words
        behind: dict[str, list[tuple[Pattern, int]]] = {}
        for path, number in paths:
            segment = path[depth] if path[depth] in words else hole(path[depth])
            if len(path) > depth + 1:
                behind.setdefault(segment, []).append((path, number))
        for segment, longer in behind.items():
            self._learn((*parent, segment), longer)


def merge_rare(paths: Counter[Pattern], most: int) -> None:
    """Make places for values of the last words of rare paths; the first, the method, stays."""
    while len(paths) > most:
        for path, _ in paths.most_common()[most // 2 :]:
            last = next((n for n in range(len(path) - 1, 0, -1) if path[n][:2] != HOLE), 0)
            number = paths.pop(path)
            paths[(*path[:last], hole(path[last]), *path[last + 1 :]) if last else path] += number


def hole(segment: str) -> str:
    """Return the place for the value that a segment is."""
    return f"{HOLE}/" if segment.endswith("/") else HOLE


def segments(path: str) -> Pattern:
    """Return the segments of a path; a slash at its end belongs to the last."""
    parts = path.removeprefix("/").split("/")
    return (*parts[:-2], f"{parts[-2]}/") if len(parts) > 1 and not parts[-1] else tuple(parts)


def is_word(segment: str) -> bool:
    """Whether a segment looks like a part of an address rather than a value."""
    return not segment or _WORD.fullmatch(segment.removesuffix("/")) is not None
