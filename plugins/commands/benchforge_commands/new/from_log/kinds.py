"""The kinds of requests in an access log, with the values that their requests had."""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, unquote_plus

from benchforge.errors import Unusable
from benchforge.text.readable import exact
from benchforge_commands.new.from_log.lines import LogLine, log_lines
from benchforge_commands.new.from_log.patterns import Pattern, Patterns, segments
from benchforge_commands.new.from_log.shared import SharedTexts

ROWS = 5000
_MOST_PATHS, _MOST_KINDS, _LEAST_SHARE = 200_000, 12, 0.005
_BAD = 400
_BODIES = {"POST", "PUT", "PATCH", "DELETE"}
_LONGEST = 60  # characters of a value
_STATIC = re.compile(
    r"\.(?:css|js|mjs|map|png|jpe?g|gif|svg|ico|webp|woff2?|ttf|mp4|pdf)$",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"tok|key|pass|pwd|secret|auth|sess|sid$|code|sig|hash|mail|phone|user|name|pin$|otp",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[0-9]{1,9}")  # longer ones may be those of a phone or a card
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
    rows: list[tuple[tuple[str, ...], dict[str, str]]] = field(default_factory=list)
    "A sample of the values in the path, and of the queries."


@dataclass
class AccessLog:
    """What an access log gives."""

    kinds: list[LogKind]
    "The most frequent first."
    incomplete: list[LogKind]
    "Kinds of methods with a body, which a log does not have."
    taken: int
    "Requests of `kinds`."
    left_out: Mapping[str, int]
    "Number of lines that are not in the mix, by reason."
    per_s: float
    "Requests per second in the busiest minute, with those that are left out."
    shared: SharedTexts

    def keeps(self, key: str, value: str) -> bool:
        """Whether a value may stand in a file: a short number, or what several clients sent."""
        if _SECRET.search(key) or not value.isprintable() or len(value) > _LONGEST:
            return False
        if _NUMBER.fullmatch(value):
            return True
        return "@" not in value and not _OPAQUE.fullmatch(value) and value in self.shared


def read(log: Path) -> AccessLog:
    """Read a log twice: words and values first, then the kinds. Raises Unusable without any."""
    paths: Counter[Pattern] = Counter()
    shared = SharedTexts()
    for line in _requests(log, Counter(), Counter()):
        key = segments(line.path)
        if key in paths or len(paths) < _MOST_PATHS:
            paths[key] += 1
        in_path = (unquote(part.removesuffix("/")) for part in key)
        for text in {*key, *in_path, *query_of(line.query).values()}:
            shared.add(text, line.client)
    left_out: Counter[str] = Counter()
    minutes: Counter[str] = Counter()
    patterns = Patterns(paths, shared)
    kinds: dict[tuple[str, Pattern], LogKind] = {}
    rng = random.Random(0)  # noqa: S311 - the same suite for the same log
    for line in _requests(log, left_out, minutes):
        pattern, values = patterns.of(line.path)
        kind = kinds.setdefault((line.method, pattern), LogKind(line.method, pattern))
        _count(kind, line, values, rng)
    frequent = _chosen([*kinds.values()], left_out)
    chosen = [kind for kind in frequent if kind.method == "GET"]
    incomplete = [kind for kind in frequent if kind.method != "GET"]
    if not chosen:
        for kind in incomplete:
            left_out[f"were {kind.method}: a log has no bodies"] += kind.requests
        shown = "; ".join(f"{exact(number)} {why}" for why, number in left_out.items())
        hint = "combined and common format of nginx, Apache and gunicorn are read"
        raise Unusable(f"{log}: no request to make a mix of{': ' if shown else ''}{shown}", hint)
    taken = sum(kind.requests for kind in chosen)
    busiest = max(minutes.values(), default=0) / 60
    return AccessLog(chosen, incomplete, taken, left_out, busiest, shared)


def query_of(query: str) -> dict[str, str]:
    """Return the values of a query by their keys; of a key that comes twice, the last."""
    pairs = (part.partition("=") for part in query.split("&") if part)
    return {unquote_plus(key): unquote_plus(value) for key, _, value in pairs}


def _requests(log: Path, left_out: Counter[str], minutes: Counter[str]) -> Iterator[LogLine]:
    """Yield the requests that an app answered well. Count the others by reason, all by minute."""
    for line in log_lines(log):
        if line is None:
            left_out["lines are not requests"] += 1
            continue
        minutes[line.minute] += 1
        if line.status >= _BAD:
            left_out["had a status of 400 or above"] += 1
        elif _STATIC.search(line.path):
            left_out["were for static files"] += 1
        elif line.method != "GET" and line.method not in _BODIES:
            left_out[f"were {line.method}"] += 1
        else:
            yield line


def _count(kind: LogKind, line: LogLine, values: tuple[str, ...], rng: random.Random) -> None:
    kind.requests += 1
    kind.statuses[line.status] += 1
    query = query_of(line.query)
    kind.keys.update(query.keys())
    row = (tuple(map(unquote, values)), query)
    if len(kind.rows) < ROWS:
        kind.rows.append(row)
    elif (place := rng.randrange(kind.requests)) < ROWS:
        kind.rows[place] = row


def _chosen(kinds: list[LogKind], left_out: Counter[str]) -> list[LogKind]:
    """Return the frequent ones, most frequent first."""
    kinds.sort(key=lambda kind: (-kind.requests, kind.pattern))
    least = _LEAST_SHARE * sum(kind.requests for kind in kinds)
    chosen = [kind for kind in kinds[:_MOST_KINDS] if kind.requests >= least]
    if rare := sum(kind.requests for kind in kinds[len(chosen) :]):
        left_out["were of rare kinds"] += rare
    return chosen
