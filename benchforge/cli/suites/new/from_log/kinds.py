"""Kinds of requests in an access log, with the values of their requests."""

import gzip
import json
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple
from urllib.parse import unquote, unquote_plus

from benchforge.errors import Unusable
from benchforge.text import safe
from benchforge.text.readable import exact

MOST_BYTES = 2 << 30
_LONGEST_LINE = 16_384  # bytes of a line: what follows is a line of its own
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
    """Yield each request; None for another line. Raises Unusable for an unreadable file."""
    name = safe.word(str(log))
    try:
        if log.exists() and not log.is_file():
            raise Unusable(f"{name}: is not a file", "benchforge reads a log twice: give a file")
        with gzip.open(log) if log.suffix == ".gz" else log.open("rb") as file:
            rest = MOST_BYTES
            while rest > 0 and (line := file.readline(_LONGEST_LINE)):
                rest -= len(line)
                yield _json_line(line) if line.startswith(b"{") else _line(line)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = safe.word(getattr(error, "strerror", None) or str(error))
        raise Unusable(f"{name}: {reason}", "give the path of an access log") from error


def _line(line: bytes) -> LogLine | None:
    match = _LINE.match(line.decode("ascii", "replace"))
    return match and _logged(match["client"], match["minute"], match["request"], match["status"])


def _json_line(line: bytes) -> LogLine | None:
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
        """Learn which segments are words: those that look so, and are `shared`."""
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


LEAST_CLIENTS, LEAST_TIMES = 3, 5
_MOST = 250_000  # texts that are counted at a time


class SharedTexts:
    """Texts, each with the clients that sent it."""

    def __init__(self, *, behind_proxy: bool = False) -> None:
        """Begin without any. Addresses `behind_proxy` are of no client: requests are counted."""
        self._behind_proxy = behind_proxy
        self._least = LEAST_TIMES if behind_proxy else LEAST_CLIENTS
        self._clients: set[str] = set()
        self._senders: dict[str, tuple[str, ...]] = {}

    def add(self, text: str, client: str) -> None:
        """Take a text that a client sent. Of too many texts, those of few clients are forgotten."""
        if len(self._clients) < LEAST_CLIENTS:
            self._clients.add(client)
        senders = self._senders.get(text, ())
        if len(senders) < self._least and (self._behind_proxy or client not in senders):
            self._senders[text] = (*senders, client)
        if len(self._senders) > _MOST:
            by_senders = sorted(self._senders.items(), key=lambda item: -len(item[1]))
            self._senders = dict(by_senders[: _MOST // 2])

    @property
    def few_clients(self) -> int | None:
        """Number of client addresses, where they are too few to tell senders apart."""
        few = len(self._clients) < LEAST_CLIENTS and not self._behind_proxy
        return len(self._clients) if few else None

    def __contains__(self, text: object) -> bool:
        """Whether enough clients sent a text; behind a proxy, whether it came often enough."""
        return isinstance(text, str) and len(self._senders.get(text, ())) >= self._least


ROWS = 5000
_MOST_PATHS, _MOST_KINDS, _LEAST_SHARE = 30_000, 12, 0.005
_MOST_SEGMENTS = 16
_MOST_KEYS = 12  # of a query: the first
_MOST_COUNTED = 10_000  # minutes, and keys of a kind
_GOOD, _BAD = 200, 400
_BODIES = {"POST", "PUT", "PATCH", "DELETE"}
_LONGEST = 60  # characters of a value
_STATIC = re.compile(r"(?i)\.(?:css|js|mjs|map|png|jpe?g|gif|svg|ico|webp|woff2?|ttf|mp4|pdf)$")
_SECRET = re.compile(
    r"tok|key|pass|pwd|secret|auth|sess|sid$|code|sig|hash|mail|phone|user|name|pin$|otp"
    r"|ssn|cvv|cvc|card|iban|birth|dob$|account",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[\w=+.-]{12,}|[0-9a-fA-F-]{16,}|\S{40,}")


@dataclass
class LogKind:
    """Requests of one method and one pattern."""

    method: str
    pattern: Pattern
    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)
    "Number of requests with each key of a query."
    rows: list[tuple[tuple[str, ...], Mapping[str, str]]] = field(default_factory=list)
    "A sample of the values in the path, and of the queries."


@dataclass
class AccessLog:
    """The kinds of an access log, and its numbers."""

    kinds: list[LogKind]
    "The most frequent first."
    incomplete: list[LogKind]
    "Kinds of methods with a body, which a log does not have."
    taken: int
    "Requests of `kinds`."
    left_out: Mapping[str, int]
    "Number of lines that are not in the mix, by reason."
    per_s: float | None
    "Requests per second in the busiest minute, with those that are left out. None without times."
    shared: SharedTexts

    def keeps(self, key: str, value: str) -> bool:
        """Whether a value may stand in a file: several clients sent it, and it looks harmless."""
        if _SECRET.search(key) or not value.isprintable() or len(value) > _LONGEST:
            return False
        odd = "@" in value or "\ufffd" in value or _OPAQUE.fullmatch(value)
        return not odd and value in self.shared


def read(log: Path, *, behind_proxy: bool = False) -> AccessLog:
    """Read a log twice: words and values first, then its kinds. Raises Unusable without any."""
    left_out: Counter[str] = Counter()
    minutes: Counter[str] = Counter()
    shared = SharedTexts(behind_proxy=behind_proxy)
    paths: Counter[Pattern] = Counter()
    for line in _requests(log, left_out, minutes):
        parts = segments(line.path)
        paths[line.method, *(intern(part) if is_word(part) else hole(part) for part in parts)] += 1
        if len(paths) > _MOST_PATHS:
            merge_rare(paths, _MOST_PATHS // 2)
        query = query_of(line.query)
        in_path = (_decoded(part.removesuffix("/"), unquote) for part in parts)
        for text in {*in_path, *query, *query.values()}:
            shared.add(text, line.client)
    kinds = _kinds(log, paths, shared, left_out)
    chosen = [kind for kind in kinds if kind.method == "GET"]
    incomplete = [kind for kind in kinds if kind.method != "GET"]
    if not chosen:
        for kind in incomplete:
            left_out[f"were {kind.method}: a log has no bodies"] += kind.requests
        reasons = "; ".join(f"{exact(number)} {reason}" for reason, number in left_out.items())
        message = f"no request to make a mix of{': ' if reasons else ''}{reasons}"
        hint = "combined and common format are read, and JSON lines of nginx and Caddy"
        raise Unusable(f"{safe.word(str(log))}: {message}", hint)
    taken = sum(kind.requests for kind in chosen)
    busiest = max(minutes.values()) / 60 if minutes else None
    return AccessLog(chosen, incomplete, taken, left_out, busiest, shared)


def _kinds(
    log: Path, paths: Mapping[Pattern, int], shared: SharedTexts, left_out: Counter[str]
) -> list[LogKind]:
    patterns = Patterns([(path[1:], number) for path, number in paths.items()], shared)
    counts: Counter[tuple[str, Pattern]] = Counter()
    for (method, *rest), number in paths.items():
        counts[method, patterns.of(f"/{'/'.join(rest)}")[0]] += number
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0][1]))[:_MOST_KINDS]
    least = _LEAST_SHARE * sum(counts.values())
    kinds = {key: LogKind(*key) for key, number in order if number >= least}
    rng = random.Random(0)  # noqa: S311 - the same suite for the same log
    for line in _requests(log, Counter(), Counter()):
        pattern, values = patterns.of(line.path)
        if kind := kinds.get((line.method, pattern)):
            _count(kind, line, values, rng)
        else:
            left_out["were of rare kinds"] += 1
    sent = (kind for kind in kinds.values() if kind.requests)
    return sorted(sent, key=lambda kind: (-kind.requests, kind.pattern))


@lru_cache(maxsize=2000)
def query_of(query: str) -> Mapping[str, str]:
    """Return the first values of a query by their keys; of a key that comes twice, the last."""
    pairs = (part.partition("=") for part in query.split("&", _MOST_KEYS)[:_MOST_KEYS] if part)
    return {_decoded(key, unquote_plus): _decoded(value, unquote_plus) for key, _, value in pairs}


def _decoded(text: str, unquoted: Callable[[str], str]) -> str:
    """Return a bounded text: a cut one is longer than any that counts."""
    return unquoted(text[: 12 * _LONGEST + 12])[: _LONGEST + 1]


def _prune(counts: Counter[str]) -> None:
    if len(counts) > _MOST_COUNTED:
        for text, _ in counts.most_common()[_MOST_COUNTED // 2 :]:
            del counts[text]


def _requests(log: Path, left_out: Counter[str], minutes: Counter[str]) -> Iterator[LogLine]:
    """Yield the requests that an app answered well. Count the others by reason, all by minute."""
    for line in log_lines(log):
        if line is None:
            left_out["lines are not requests"] += 1
            continue
        if line.minute:
            minutes[line.minute] += 1
            _prune(minutes)
        if line.status >= _BAD:
            left_out["had a status of 400 or above"] += 1
        elif _STATIC.search(line.path):
            left_out["were for static files"] += 1
        elif line.status < _GOOD:
            left_out["had a status below 200"] += 1
        elif line.path.count("/") > _MOST_SEGMENTS:
            left_out[f"had more than {_MOST_SEGMENTS} segments in their path"] += 1
        elif line.method != "GET" and line.method not in _BODIES:
            left_out[f"were {line.method}"] += 1
        else:
            yield line


def _count(kind: LogKind, line: LogLine, values: tuple[str, ...], rng: random.Random) -> None:
    kind.requests += 1
    kind.statuses[line.status] += 1
    query = query_of(line.query)
    kind.keys.update(query.keys())
    _prune(kind.keys)
    index = len(kind.rows) if len(kind.rows) < ROWS else rng.randrange(kind.requests)
    if index < ROWS:
        row = (tuple(_decoded(value, unquote) for value in values), query)
        kind.rows[index : index + 1] = [row]
