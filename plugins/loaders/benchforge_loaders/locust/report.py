"""What locust says at its end: statistics as JSON on stdout, failures in words on stderr."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field

from benchforge.plugin import Reading
from benchforge.plugin.load_tools import Amount, Count, ToolJson

# The percents that locust itself prints.
_PERCENTS = (50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9, 99.99, 100.0)
_FAILURE = re.compile(r"^(\d{1,15}) {2,}(\S.*?) *$", re.MULTILINE)
_ERRORS = re.compile(
    r"^Error report\n# occurrences +Error *\n-+\|-+\n(.*?)^-+\|-+$", re.MULTILINE | re.DOTALL
)
_TOTAL = re.compile(
    r"^ +Aggregated +(\d{1,15}) +(\d{1,15})\(.*\| +(\d{1,12}\.\d\d) +\d+\.\d\d$", re.MULTILINE
)
_STAMP = r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] \S+: "
_BEGAN = re.compile(_STAMP + r"(?:Ramping to|Sending spawn jobs of) \d+ users", re.MULTILINE)
_ENDED = re.compile(_STAMP + r"--run-time limit reached", re.MULTILINE)
_FAILED_KIND = re.compile(r"[A-Z]+ (\S+) \d+: ")
_ZONE_S = 900  # all zones of the world are whole quarters of an hour apart
_LOGGED = re.compile(r"^\[[^\]]*\] \S+/[A-Z]+/\S+: ")
_CLASSES = {
    "status": re.compile(r"\bHTTPError\('|BadStatusCode\("),
    "connect": re.compile(r"ConnectionRefused|NewConnectionError|Connection refused"),
    "timeout": re.compile(r"[Tt]imeout|timed out"),
    "read": re.compile(
        r"Connection(?:Reset|Aborted|Closed)?Error|ChunkedEncodingError|IncompleteRead|"
        r"RemoteDisconnected|ProtocolError|HTTPParseError|HTTPConnectionClosed|BrokenPipe|"
        r"Connection (?:reset|aborted|closed)|connection closed"
    ),
}

_FARTHEST_S = 15 * 3600  # no time zone is farther from UTC


class _Entry(ToolJson):
    """The requests of one method and name."""

    name: str
    method: str | None
    requests: Annotated[Count, Field(alias="num_requests")]
    untimed: Annotated[Count, Field(alias="num_none_requests")]
    failures: Annotated[Count, Field(alias="num_failures")]
    total_ms: Annotated[Amount, Field(alias="total_response_time")]
    content: Annotated[Count, Field(alias="total_content_length")]
    times: Annotated[dict[str, Count], Field(alias="response_times")]
    began: Annotated[float, Field(alias="start_time", ge=0, le=1e11)]
    "Seconds of the epoch: a moment after the users began."
    last: Annotated[float | None, Field(alias="last_request_timestamp", ge=0, le=1e11)]
    "End of the last request, like `began`; None without one."


class _Entries(ToolJson):
    entries: list[_Entry]


@dataclass(frozen=True)
class LocustReport:
    """All entries together."""

    entries: tuple[_Entry, ...]
    seconds: float
    rate: float
    failures: Mapping[str, int]
    "Number of failures by locust's words."

    @classmethod
    def from_texts(cls, printed: str, logged: str) -> Self:
        """Read both. Raises ValueError that says what is missing or wrong."""
        entries = tuple(_entries(printed))
        if not any(entry.requests for entry in entries):
            raise ValueError("no request ended")
        requests = sum(entry.requests for entry in entries)
        failed = sum(entry.failures for entry in entries)
        totals = _TOTAL.findall(logged)
        if not totals:
            raise ValueError("no line 'Aggregated'")
        if (int(totals[-1][0]), int(totals[-1][1])) != (requests, failed):
            raise ValueError(
                f"'Aggregated': {totals[-1][0]} requests, {totals[-1][1]} failed; its JSON says "
                f"{requests} and {failed}"
            )
        failures = _failures(logged)
        if sum(failures.values()) != failed:
            raise ValueError(f"'Error report': {sum(failures.values())} of {failed} failures")
        for entry in entries:
            _check(entry)
        return cls(entries, _seconds(logged, entries), float(totals[-1][2]), failures)

    def reading(self, *, custom: bool, retries: bool) -> Reading:
        """Return the report as a reading.

        `custom` says that the locustfile is the user's, `retries` that requests may be sent again.
        """
        requests = sum(entry.requests for entry in self.entries)
        failed = sum(entry.failures for entry in self.entries)
        classes = self._classes(custom=custom)
        lost = sum(count for name, count in classes.items() if name not in ("status", "other"))
        times = Counter[float]()
        for entry in self.entries:
            times.update({float(ms): count for ms, count in entry.times.items()})
        timed = times.total()
        total_ms = sum(entry.total_ms for entry in self.entries)
        defects = {
            "locust:ms-rounding": True,
            "locust:silent-retries": retries,
            "locust:failures-in-latency": lost > 0,
        }
        return Reading(
            seconds=self.seconds,
            responses=requests - lost,
            good_at_least=requests - failed,
            good_at_most=requests - failed,
            statuses={} if custom else self._statuses(),
            own_requests=custom,
            errors=classes,
            unanswered=None if classes.get("other") else lost,
            body_bytes=None
            if custom
            else sum(entry.content for entry in self.entries if _whole(entry)),
            percentiles_us=_percentiles(times) if timed else None,
            percentiles_by="locust, in steps of 1, 10 or 100 ms" if timed else "",
            mean_us=total_ms / timed * 1000 if timed else None,
            latency_samples=timed or None,
            printed={
                "requests_per_second": self.rate,
                "requests": {
                    f"{entry.method or ''} {entry.name}".strip(): entry.requests
                    for entry in self.entries
                },
                "content_bytes": sum(entry.content for entry in self.entries),
                "failures": dict(list(self.failures.items())[:20]),
            },
            defects=tuple(name for name, touches in defects.items() if touches),
        )

    def by_kind(self, kinds: Sequence[str], *, retries: bool) -> dict[str, Reading]:
        """Return the reading of each kind of a mix, whose label begins the names of entries.

        Raises ValueError where the entries are not those of kinds.
        """
        entries_by_kind = {
            kind: [entry for entry in self.entries if _label(entry.name) == kind] for kind in kinds
        }
        if sum(map(len, entries_by_kind.values())) < len(self.entries):
            raise ValueError("an entry of its JSON is of no kind")
        of_words = {words: _FAILED_KIND.match(words) for words in self.failures}
        return {
            kind: replace(
                self,
                entries=tuple(entries),
                failures={
                    words: self.failures[words]
                    for words, match in of_words.items()
                    if match and match[1] == kind
                },
            ).reading(custom=False, retries=retries)
            for kind, entries in entries_by_kind.items()
        }

    def _statuses(self) -> dict[str, int]:
        """Return how many responses had each status, which our locustfile adds to their name."""
        counts: Counter[str] = Counter()
        for entry in self.entries:
            status = entry.name.rpartition(" ")[2]
            if re.fullmatch(r"[1-9]\d\d", status):
                counts[status] += entry.requests
        return dict(counts)

    def _classes(self, *, custom: bool) -> dict[str, int]:
        # With our own locustfile, what is neither a status nor known is a lost request too.
        classes = {"status": 0, "connect": 0, "timeout": 0, "read": 0}
        unknown = "other" if custom else "read"
        for words, count in self.failures.items():
            kind = next(
                (name for name, pattern in _CLASSES.items() if pattern.search(words)), unknown
            )
            classes[kind] = classes.get(kind, 0) + count
        return classes


def complaint(code: int, output: str, locustfile: Path) -> str:
    """Return in one line why locust failed: the locustfile's line where that is the reason."""
    if code < 0:
        return f"ended by signal {-code}"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    last = _LOGGED.sub("", lines[-1]) if lines else f"exit code {code}"
    name = re.escape(locustfile.name)
    places = re.findall(rf'^  File ".*/{name}", line (\d+)', output, re.MULTILINE)
    return f"{locustfile}:{places[-1]}: {last}" if places else last


def _whole(entry: _Entry) -> bool:
    """Whether the requests of an entry have responses: our locustfile adds the status, or 0."""
    return not entry.name.endswith(" 0")


def _label(name: str) -> str:
    return name.rpartition(" ")[0]


def _entries(text: str) -> list[_Entry]:
    # A locustfile may print before.
    match = re.search(r"^\[.*", text, re.MULTILINE | re.DOTALL)
    if not match:
        raise ValueError("no JSON: was it ended early?")
    # The models are of objects.
    return _Entries.from_json(f'{{"entries": {match[0]}}}').entries


def _seconds(logged: str, entries: Sequence[_Entry]) -> float:
    """Return how long the users were at work: by the log, and to the last request that ended.

    On a busy machine they go on for a while after the log told that the time was over.
    """
    began, ended = _BEGAN.search(logged), _ENDED.search(logged)
    if not began or not ended:
        raise ValueError(f"no line '{'--run-time limit reached' if began else 'Ramping to'}'")
    start = _time(began[1]).timestamp()
    seconds = _time(ended[1]).timestamp() - start
    if seconds <= 0:
        raise ValueError("'--run-time limit reached': before the users began")
    # The log is in local time, of whatever place: the two begin in the same moment.
    zone = round((min(entry.began for entry in entries) - start) / _ZONE_S) * _ZONE_S
    if abs(zone) > _FARTHEST_S:
        raise ValueError("start_time: not the moment at which its log says that the users began")
    return max(
        [seconds, *(entry.last - zone - start for entry in entries if entry.last is not None)]
    )


def _time(text: str) -> datetime:
    try:
        # A clock of the same machine, without a zone.
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)
    except ValueError:
        raise ValueError(f"{text!r} is no time") from None


def _failures(text: str) -> dict[str, int]:
    """Return the error report; locust prints it only where there are failures."""
    match = _ERRORS.search(text)
    failures: Counter[str] = Counter()
    for count, words in _FAILURE.findall(match[1]) if match else []:
        failures[words] += int(count)
    return failures


def _check(entry: _Entry) -> None:
    timed = sum(entry.times.values())
    if timed != entry.requests - entry.untimed:
        raise ValueError(f"{entry.name}: {timed} times of {entry.requests} requests")
    if entry.failures > entry.requests:
        raise ValueError(f"{entry.name}: {entry.failures} of {entry.requests} requests failed")
    for ms in entry.times:
        if not re.fullmatch(r"\d{1,9}(?:\.\d{1,3})?", ms):
            raise ValueError(f"{entry.name}: response_times.{ms}: no time")


def _percentiles(times: Mapping[float, int]) -> dict[str, float]:
    """Return percentiles in microseconds: the smallest time with so many at or below it."""
    total, counted = sum(times.values()), 0
    percentiles: dict[str, float] = {}
    wanted = list(_PERCENTS)
    for ms, count in sorted(times.items()):
        counted += count
        while wanted and counted >= max(1, math.ceil(wanted[0] * total / 100 - 1e-9)):
            percentiles[f"{wanted.pop(0):g}"] = ms * 1000
    return percentiles
