"""locust: simulated users in Python, by our locustfile or your own, in one process or many."""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from benchforge.plugin import (
    Command,
    Duration,
    Load,
    Need,
    Output,
    OutputDamaged,
    Reading,
    Request,
    Target,
    WrongOption,
)
from benchforge.plugin.load_tools import Amount, Count, Timed, ToolJson, WholeSeconds, parsing

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
OUR_FILE = Path(__file__).parents[1] / "drivers/locust_user.py"
SETTINGS = "locust-request.json"
WORKERS_WITHIN_S = 20


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
        # Without a response, our locustfile adds 0 in place of the status.
        content = sum(each.content for each in self.entries if not each.name.endswith(" 0"))
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
            body_bytes=None if custom else content,
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
        """Return the reading of each kind of a mix. Raises ValueError for entries of no kind."""
        labels = [(row.name.rpartition(" ")[0], row) for row in self.entries]
        groups = {kind: [row for label, row in labels if label == kind] for kind in kinds}
        if sum(map(len, groups.values())) < len(self.entries):
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
            for kind, entries in groups.items()
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
            kind = next((name for name, form in _CLASSES.items() if form.search(words)), unknown)
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
    return max([seconds, *(row.last - zone - start for row in entries if row.last is not None)])


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


class _Process(ToolJson):
    """What our locustfile counts in a process that sends a mix."""

    taken: Count
    began_again: Count


class Locust(Timed):
    """locust 2: each user sends its next request after the last response.

    Good to know:

    - locust keeps times in whole milliseconds, above 100 ms in steps of 10, above 1 s in steps of
      100, and rounds percentiles to these steps. Its mean is exact.
    - Latencies include lost requests. FastHttpUser silently repeats a request whose connection was
      closed.
    - A process uses one core, and reaches about 1400 requests per second with HttpUser, 5000 with
      FastHttpUser: see the loader's CPU. `workers` are processes in addition to the master.
    - `duration` counts from locust's own start. benchforge reads the real duration from the times
      of its log. The rate that locust prints ends with the start of the last request, and is too
      high.
    - Your own locustfile decides which requests to send. benchforge uses the scenario's request
      only for the checks before and after the load. Redirects are followed as that file says.
    - Of a mix, the users of a process share its part of the stream: each takes the next request.
      It cannot send flows.
    - locust reports the status of a failure only in words, from which benchforge forms the
      classes. With your own locustfile, `other` are failures that the file declared.
    """

    name: ClassVar[str] = "locust"
    tells_kinds: ClassVar[bool] = True

    users: PositiveInt = 10
    "Number of concurrent users, over all processes."
    spawn_rate: PositiveInt | None = None
    "Number of users that start per second. Default: all users at once."
    workers: NonNegativeInt = Field(default=0, le=1000)
    "Number of processes that send requests. With 0, one process does everything."
    user: Literal["fast", "http"] = "fast"
    "Class of user: FastHttpUser (geventhttpclient) or HttpUser (requests)."
    locustfile: Path | None = None
    "Path of your own locustfile, relative to the suite's folder."
    timeout: WholeSeconds = Duration(10)
    "Time limit of one request in whole seconds."

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        if self.workers > self.users:
            msg = f"{self.workers} workers need as many users, not {self.users}"
            raise WrongOption(msg, "workers", "users")
        if self.locustfile is not None and self.model_fields_set & {"user", "timeout"}:
            msg = "user and timeout do not apply to your own locustfile"
            raise WrongOption(msg, "user", "timeout", "locustfile", hint="leave them out")
        return self

    def needs(self) -> Iterable[Need]:
        return [Need("locust", "pip install locust", "module")]

    def load(self) -> Load:
        """Return the load by its options: nobody knows what your own locustfile does."""
        update: dict[str, int | None] = {"processes": max(1, self.workers), "keep_alive": True}
        if self.locustfile is not None:
            update |= dict.fromkeys(("connections", "concurrency", "keep_alive", "protocol"))
        return super().load().model_copy(update=update)

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the locustfile; locust reports a missing one."""
        file = OUR_FILE if self.locustfile is None else suite_folder / self.locustfile
        return hashlib.sha256(file.read_bytes() if file.is_file() else b"").hexdigest()[:16]

    def reads(self, suite_folder: Path) -> Iterable[Path]:
        return () if self.locustfile is None else (suite_folder / self.locustfile,)

    def files(self, target: Target) -> Mapping[str, str]:
        if self.locustfile is not None:
            return {}
        if target.stream is not None:
            return {SETTINGS: json.dumps(self._stream(target), indent=2) + "\n"}
        request = target.request
        settings = {
            "user": self.user,
            "method": request.method,
            "path": request.path,
            # Both kinds of users ask for gzip by themselves.
            "headers": {"Accept-Encoding": "identity", **request.headers},
            "body": request.body,
            "timeout": float(self.timeout),
        }
        return {SETTINGS: json.dumps(settings, indent=2) + "\n"}

    def commands(self, target: Target) -> Sequence[Command]:
        """Return the process that reports, then the workers."""
        file = OUR_FILE if self.locustfile is None else target.suite_folder / self.locustfile
        environment = {"BENCHFORGE_LOCUST": str(target.folder / SETTINGS)}
        start = (target.python, "-m", "locust", "-f", file)
        master = ("--master", "--master-bind-host", "127.0.0.1", "--expect-workers", self.workers)
        patience = ("--expect-workers-max-wait", WORKERS_WITHIN_S)
        worker = Command(*start, "--worker", "--master-host", "127.0.0.1", environment=environment)
        return [
            Command(
                *start,
                *("--headless", "--only-summary", "--json", "--exit-code-on-error", 0),
                *("-u", self.users, "-r", self.spawn_rate or self.users),
                *("-t", f"{self.duration}s", "-H", target.root),
                *((*master, *patience) if self.workers else ()),
                environment=environment,
            ),
            *([worker] * self.workers),
        ]

    def read(self, output: Output) -> Reading:
        if output.code:
            file = self.locustfile or Path(OUR_FILE.name)
            raise OutputDamaged(f"locust: {complaint(output.code, output.stderr, file)}")
        with parsing("locust"):
            report = LocustReport.from_texts(output.stdout, output.stderr)
        custom = self.locustfile is not None
        retries = self.user == "fast" or custom  # what a locustfile of the user's does is not known
        reading = report.reading(custom=custom, retries=retries)
        if not output.target.kinds:
            return reading
        processes = self._processes(output)
        update = {
            "kinds": report.by_kind(output.target.kinds, retries=retries),
            "records_taken": tuple(process.taken for process in processes),
            "stream_began_again": sum(process.began_again for process in processes),
        }
        return reading.model_copy(update=update)

    def why_no_kinds(self, requests: Mapping[str, Request]) -> str:
        return "sends what its own locustfile says" if self.locustfile is not None else ""

    def _stream(self, target: Target) -> Mapping[str, object]:
        return {
            "user": self.user,
            "stream": str(target.stream),
            "index": str(target.index),
            "kinds": target.kinds,
            "parts": max(1, self.workers),
            "taken": str(target.folder / _taken_file(target)),
            "timeout": float(self.timeout),
        }

    def _processes(self, output: Output) -> list[_Process]:
        processes: list[_Process] = []
        for part in range(max(1, self.workers)):
            with parsing(name := f"{_taken_file(output.target)}-{part}"):
                processes.append(_Process.from_json(output.file(name)))
        return processes


def _taken_file(target: Target) -> str:
    return f"locust-{target.phase}-taken"
