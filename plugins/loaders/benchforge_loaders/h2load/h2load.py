"""h2load, of nghttp2: a closed loop over HTTP/1.1 or HTTP/2, with a log of every request."""

import re
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import accumulate
from typing import ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import (
    BenchforgeError,
    Command,
    Histogram,
    Load,
    Output,
    OutputDamaged,
    Reading,
    Request,
    Target,
    WrongOption,
    readable,
)
from benchforge.plugin.load_tools import Program, Timed, agree, ended_well, headers, line, parsing

_LINE = re.compile(r"(\d{16})\t(-1|0|[1-9]\d\d)\t(\d{1,10})")
# A request that was in the tool when its connection ended: it has no start, and no length.
_NEVER_SENT = re.compile(r"0\t-1\t\d{1,16}")
# Between a response and the next request a client is in neither: many looks, and the best counts.
_LOOKS = 32

MOST = 10_000
"URLs of a list, which is kept with the trial. Then a connection begins again."
_ENTRY = struct.Struct("<QIHH")

URLS = "h2load-urls"
_PROTOCOLS = {"http/1.1": ["--h1"], "h2": [], "h2c": ["-p", "h2c"]}
_HINTS = {
    "h2": 'use nginx with tls = true and http2 = true, or protocol = "http/1.1"',
    "h2c": 'use protocol = "h2" for TLS',
}
_KEPT = 0.999  # of the sum of the clients' own rates is at least the load's, where all lasted
_ROUNDED = 0.005  # off is the mean of these rates
_KEEP = (
    "let the server keep each connection for the whole load: hypercorn by "
    "keep_alive_max_requests = 1000000000, nginx by keepalive_requests = 1000000000"
)
_ENDS = ("total", "started", "done", "succeeded", "failed", "errored", "timeout")
_CLASSES = ("2xx", "3xx", "4xx", "5xx")
_TRAFFIC = r"traffic: \S+ \((\d{1,15})\) total, .*, \S+ \((\d{1,15})\) data"
_RATES = r"req/s           :(?: +[\d.]{1,18}){2} +([\d.]{1,18}) .*"


@dataclass(frozen=True)
class Log:
    """Every request that ended; `spans` are microseconds since 1970 from its start to its end."""

    spans: tuple[tuple[int, int], ...]
    "Start and end of each request that was sent."
    durations: Mapping[int, int]
    "Number of responses by duration in microseconds."
    statuses: Mapping[int, int]
    "Number of responses by status; h2load gives 0 to a status line without a reason."
    failed: int
    "Requests without a whole response, sent or not."

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the log. Raises ValueError that names the line that is not one."""
        spans: list[tuple[int, int]] = []
        durations: Counter[int] = Counter()
        statuses: Counter[int] = Counter()
        failed = 0
        for number, row in enumerate(text.splitlines(), 1):
            if _NEVER_SENT.fullmatch(row):
                failed += 1
                continue
            match = _LINE.fullmatch(row)
            if not match:
                raise ValueError(f"line {number} is no line of a request: {row[:60]!r}")
            start, status, lasted = int(match[1]), int(match[2]), int(match[3])
            spans.append((start, start + lasted))
            if status < 0:
                failed += 1
                continue
            durations[lasted] += 1
            statuses[status] += 1
        return cls(tuple(spans), durations, statuses, failed)

    @property
    def bad(self) -> int:
        """Number of responses with a status of 400 or more."""
        return sum(n for code, n in self.statuses.items() if code >= HTTPStatus.BAD_REQUEST)

    @property
    def complete(self) -> int:
        """Number of whole responses."""
        return sum(self.statuses.values())

    @property
    def thinned_s(self) -> float:
        """Seconds from the first request until as many as ever were under way for the last time."""
        steps = sorted(step for start, end in self.spans for step in ((start, 1), (end, -1)))
        under_way = list(accumulate(step for _, step in steps))
        most = max(under_way)
        last = max(index for index, count in enumerate(under_way) if count == most)
        return (steps[last + 1][0] - steps[0][0]) / 1e6

    def silent(self, slots: int, seconds: float) -> int:
        """Return how many of so many slots were waiting at the end for longer than any other did.

        A slot is a client, or one stream of it; it always has a request under way. So those that
        still answer are seen in the log one longest response before the end: each of them ends a
        request between then and the end. Two of the longest back a look may be just between two.
        """
        if not self.spans:
            return slots
        end = min(start for start, _ in self.spans) + round(seconds * 1e6)
        longest = max(until - start for start, until in self.spans)
        looks = [end - longest - longest * look // _LOOKS for look in range(_LOOKS)]
        late = [span for span in self.spans if span[1] > looks[-1] and span[0] <= looks[0]]
        missed = max(sum(start <= look < until for start, until in late) for look in looks)
        return max(0, slots - missed)


class ClientsEnded(OutputDamaged):
    """Clients ended before the load did: the server ended their connections."""

    about = "behaviour"


class H2load(Program, Timed):
    """h2load 1.x: each client sends its next request after the last response.

    Good to know:

    - Latencies are exact. They come from its log of requests, about 25 bytes each, which is kept
      with the trial.
    - A client ends with its connection: h2load connects again only over HTTP/1.1, if the server
      announced the end. The rate then falls with the length of the load. If clients' own rates add
      up to more than the load's, clients ended, and the trial has no reading.
    - benchforge counts clients from the log as `silent` if they were silent at the end for longer
      than any response took.
    - h2load reports no status of a status line without a reason, as hypercorn sends over HTTP/1.1.
    - Of a mix, h2load takes the paths of the first 10,000 requests of the stream. Each connection
      begins with the first one. h2load does not report which requests it sent: see check R2.
    - h2load reports the seconds of its option: it counts between start and end of that time.
    """

    name: ClassVar[str] = "h2load"
    debian: ClassVar[str] = "nghttp2-client"
    keep_alive: ClassVar[bool] = True

    connections: PositiveInt = 10
    "Number of concurrent connections."
    threads: PositiveInt = 1
    "Number of threads of the tool. They share the connections."
    protocol: Literal["http/1.1", "h2", "h2c"] = "http/1.1"
    "Protocol of HTTP. h2 is HTTP/2 over TLS, h2c without TLS and without an upgrade."
    streams: PositiveInt = Field(default=1, le=10_000)
    "Number of concurrent requests in one connection. With http/1.1 they are pipelined."

    @model_validator(mode="after")
    def _a_connection_for_each_thread(self) -> Self:
        if self.connections < self.threads:
            msg = f"{self.threads} threads need as many connections, not {self.connections}"
            raise WrongOption(msg, "threads", "connections")
        return self

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. Raises BenchforgeError for HTTP/2 that the server cannot speak."""
        if reason := self._no_http2(target.url):
            raise BenchforgeError(f"h2load: {reason}", _HINTS[self.protocol])
        request = target.request if target.stream is None else _requests(target, 1)[0]
        if request.method == "HEAD" and self.protocol == "http/1.1":
            message = "h2load: a HEAD request: h2load waits for the body that never comes"
            raise BenchforgeError(message, "use GET, or ab")
        # It adds a Host, and replaces its :authority.
        named = {
            ":authority" if key.lower() == "host" else key: value
            for key, value in request.headers.items()
        }
        # -d alone means POST; a header of this name sets another method.
        meant = "GET" if request.body is None else "POST"
        return [
            Command(
                target.programs["h2load"],
                *_PROTOCOLS[self.protocol],
                *("-D", self.duration, "-c", self.connections, "-t", self.threads),
                *("-m", self.streams),
                f"--log-file={target.folder / _log(target)}",
                *(["-d", target.body_file] if target.body_file else []),
                *(["-H", f":method: {request.method}"] if request.method != meant else []),
                *headers(named),
                *("-i", target.folder / URLS),
            )
        ]

    def files(self, target: Target) -> Mapping[str, str]:
        """Return the URLs in a file: other users can read arguments."""
        if target.stream is not None:
            lines = (f"{target.root}{request.path}\n" for request in _requests(target, MOST))
            return {URLS: "".join(lines)}
        return {**super().files(target), URLS: f"{target.url}\n"}

    def read(self, output: Output) -> Reading:
        ended_well("h2load", output)
        name = _log(output.target)
        with parsing(name, hint=""):
            log = Log.from_text(output.file(name))
        with parsing("h2load"):
            return self._reading(output.stdout, log)

    def why_unended(self, printed: str) -> str:
        """Return that h2load may not end over HTTP/1.1.

        A client whose connection the server closes at the end of the load begins anew, and never
        ends. Source: nghttp2's pull request 2249 of October 2024, which mends it.
        """
        if self.protocol == "http/1.1":
            return "h2load may not end if the server closes connections over HTTP/1.1: use wrk"
        return ""

    def why_no_kinds(self, requests: Mapping[str, Request]) -> str:
        """Return what differs between requests besides their paths; empty if nothing does."""
        first = next(iter(requests.values()), Request())
        for label, request in requests.items():
            if request.method != "GET" or request.body is not None:
                return f"sends GET without a body only, unlike kind {label!r}"
            if request.headers != first.headers or "{" in "".join(request.headers.values()):
                return f"sends the same headers in all requests, unlike kind {label!r}"
        return ""

    def load(self) -> Load:
        protocol = "HTTP/1.1" if self.protocol == "http/1.1" else "HTTP/2"
        return super().load().model_copy(update={"protocol": protocol})

    def _no_http2(self, url: str) -> str:
        """Return why a server cannot speak the chosen HTTP/2; empty if it may."""
        if self.protocol == "http/1.1" or url.startswith("https:") == (self.protocol == "h2"):
            return ""
        with_tls = "has TLS" if url.startswith("https:") else "has no TLS"
        return f"protocol {self.protocol!r} does not fit {url}, which {with_tls}"

    def _reading(self, text: str, log: Log) -> Reading:
        seconds = float(self.duration)
        finished = line(text, "finished in", r"finished in (\S+), ([\d.]{1,18}) req/s, (\S+)B/s")
        counts, classes = _counts(text, "requests", _ENDS), _counts(text, "status codes", _CLASSES)
        traffic = line(text, "traffic:", _TRAFFIC)
        rates = line(text, "req/s           :", _RATES)
        agree("finished in", log.complete, seconds, float(finished[2]))
        _whole(log, counts["done"], counts["succeeded"])
        silent = log.silent(self.connections * self.streams, seconds)
        self._all_lasted(log, float(rates[1]), silent)
        bad = log.bad
        # Where one is missing, none tells how many responses were right.
        statuses = {} if 0 in log.statuses else {str(code): n for code, n in log.statuses.items()}
        return Reading(
            seconds=seconds,
            responses=log.complete,
            good_at_least=log.complete - bad,
            good_at_most=log.complete - bad,
            statuses=statuses,
            errors={"status": bad, "read": log.failed, "silent": silent},
            unanswered=log.failed + silent,
            received_bytes=int(traffic[1]),
            body_bytes=int(traffic[2]),
            latency=Histogram.of(log.durations),
            printed={
                "finished_in": finished[1],
                "requests_per_second": float(finished[2]),
                **{name: counts[name] for name in _ENDS[1:]},
                "status_codes": dict(classes),
            },
            defects=("h2load:dead-clients",) if silent else (),
        )

    def _all_lasted(self, log: Log, mean: float, silent: int) -> None:
        """Raise ClientsEnded where the clients' rates, each over its own life, add up to more."""
        rate, expected_rate = log.complete / self.duration, mean * self.connections
        if rate >= _KEPT * (expected_rate - self.connections * _ROUNDED):
            return
        ended, clients = -(-silent // self.streams), self.connections
        which = f"all {clients}" if ended == clients else f"at least {max(1, ended)} of {clients}"
        seconds = [readable.amount("s", value) for value in (log.thinned_s, self.duration)]
        raise ClientsEnded(
            f"h2load: {which} clients ended before the load did, the first {seconds[0]} into its "
            f"{seconds[1]}: {rate:,.0f} responses/s depend on its length; clients that lasted "
            f"had {expected_rate:,.0f}",
            _KEEP,
        )


def _counts(text: str, name: str, nouns: Sequence[str]) -> dict[str, int]:
    pattern = ", ".join(rf"(\d{{1,15}}) {noun}" for noun in nouns)
    match = line(text, f"{name}:", f"{name}: {pattern}")
    return dict(zip(nouns, map(int, match.groups()), strict=True))


def _whole(log: Log, done: int, succeeded: int) -> None:
    if (lines := log.complete + log.failed) != done:
        raise ValueError(f"'requests:': {done} done, and {lines} lines in its log")
    good = log.complete - log.bad - log.statuses.get(0, 0)
    if good != succeeded:
        raise ValueError(f"'requests:': {succeeded} succeeded, and {good} in its log")


def _log(target: Target) -> str:
    return f"h2load-{target.phase}.tsv"


def _requests(target: Target, most: int) -> list[Request]:
    """Return the first requests of a stream, a mix of whose kinds has the same headers."""
    assert target.stream is not None  # noqa: S101 - a mix has both
    assert target.index is not None  # noqa: S101
    requests: list[Request] = []
    with target.stream.open("rb") as content, target.index.open("rb") as index:
        for offset, length, _, _ in _ENTRY.iter_unpack(index.read(_ENTRY.size * most)):
            content.seek(offset)
            first, *lines = content.read(length).decode().rstrip().split("\r\n")
            _, path, _ = first.split(" ")
            pairs = dict(line.split(": ", 1) for line in lines)
            if pairs.get("Host") == urlsplit(target.root).netloc:
                del pairs["Host"]  # h2load writes it by itself
            requests.append(Request.model_construct(path=path, headers=pairs))
    return requests
