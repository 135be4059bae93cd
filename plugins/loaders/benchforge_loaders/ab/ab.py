"""ab, ApacheBench: a closed loop in one thread that speaks HTTP/1.0."""

import math
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from pydantic import JsonValue, PositiveInt, model_validator

from benchforge.plugin import (
    Command,
    Duration,
    Load,
    Output,
    OutputDamaged,
    Reading,
    Request,
    Target,
    WrongOption,
)
from benchforge.plugin.load_tools import Program, WholeSeconds, growing, headers, line, parsing

# ab counts in 32 and 64 bits; longer numbers are no numbers of ab.
_WHOLE = r"(\d{1,18})"
_DECIMAL = r"(\d{1,15}\.\d{1,3})"
_CLASSES = rf"   \(Connect: {_WHOLE}, Receive: {_WHOLE}, Length: {_WHOLE}, Exceptions: {_WHOLE}\)"
_TIMES = ("Connect", "Processing", "Waiting", "Total")
_COLUMNS = ("min", "mean", "sd", "median", "max")
_COUNTS = (
    *("Failed requests:", "   (Connect: ", "Write errors:"),
    *("Non-2xx responses:", "Keep-Alive requests:"),
)
_CSV_HEAD = "Percentage served,Time in ms"
# Both numbers of the rate are rounded, and the time to a millisecond.
_TIME_ROUNDING_S = 0.0005
_RATE_TOLERANCE = 0.01
# -t alone means 50 000 requests at most, and ab would stop there.
BOUND = 10_000_000
# For an estimate only: how long a number of requests takes.
REQUESTS_PER_SECOND = 1000
# ab rounds to whole milliseconds in its tables.
ROUNDED_US = 501
_LENGTHS = (
    "ab calls a body of another length than the first one's an error; "
    "with variable_length = true it does not"
)
NOTHING_TOLD = "ab stops at once and reports nothing"
FROZEN_S = 86_400
"Length of a load, and time limit of a response, where ab is frozen and its clock runs on."
INTERRUPTED = 1
"Exit code of ab after the signal at which it reports."


@dataclass(frozen=True)
class AbReport:
    """The report, checked for agreement with itself."""

    software: str
    document_bytes: int | None
    "Body length of the first response; None where lengths may vary."
    concurrency: int
    seconds: float
    complete: int
    errors: dict[str, int]
    "ab's classes, which overlap, and `empty` when no request was answered with a byte."
    kept: int | None
    "Complete requests whose connection stayed open; None without -k."
    transferred: int
    body_bytes: int
    longest_ms: int
    claims: Mapping[str, JsonValue]

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the report. Raises ValueError that names the line that is missing or wrong."""
        complete = int(_line(text, "Complete requests", _WHOLE))
        if not complete:
            raise ValueError("ab completed no request")
        failed = int(_line(text, "Failed requests", _WHOLE))
        classes = line(text, "(Connect: ...)", _CLASSES).groups() if failed else (0, 0, 0, 0)
        connect, receive, length, exceptions = counts = [int(count) for count in classes]
        if sum(counts) > failed:
            raise ValueError(f"the classes of the {failed} failed requests are more than those")
        errors = {
            "status": _optional(text, "Non-2xx responses") or 0,
            "length": length,
            "connect": connect,
            "receive": receive,
            "exceptions": exceptions,
            "write": _optional(text, "Write errors") or 0,
        }
        seconds = float(_line(text, "Time taken for tests", f"{_DECIMAL} seconds"))
        rate = float(_line(text, "Requests per second", rf"{_DECIMAL} \[#/sec\] \(mean\)"))
        _check_rate(complete, seconds, rate)
        times = {name.lower(): _times(text, name) for name in _TIMES}
        keep_alive_requests = _optional(text, "Keep-Alive requests")
        length_text = _line(text, "Document Length", r"(Variable|\d{1,18} bytes)")
        body_bytes = int(_line(text, "HTML transferred", f"{_WHOLE} bytes"))
        transferred = int(_line(text, "Total transferred", f"{_WHOLE} bytes"))
        report = cls(
            software=_line(text, "Server Software", r"(.*)"),
            document_bytes=None if length_text == "Variable" else int(length_text.split()[0]),
            concurrency=int(_line(text, "Concurrency Level", _WHOLE)),
            seconds=seconds,
            complete=complete,
            errors=errors if transferred else {**errors, "empty": complete},
            kept=keep_alive_requests,
            transferred=transferred,
            body_bytes=body_bytes,
            longest_ms=int(times["total"]["max"]),
            claims={
                "requests_per_second": rate,
                **_times_per_request(text),
                "transfer_rate_kbytes_per_second": float(
                    _line(text, "Transfer rate", rf"{_DECIMAL} \[Kbytes/sec\] received")
                ),
                "html_transferred_bytes": body_bytes,
                "failed_requests": failed,
                "keep_alive_requests": keep_alive_requests,
                "connection_times_ms": {name: dict(row) for name, row in times.items()},
            },
        )
        _only_known(text)
        if complete > 1:
            line(text, "100% (longest request)", r" 100% +\d{1,18} \(longest request\)")
        return report


def percentiles_us(text: str, complete: int) -> dict[str, float]:
    """Return the lines of ab's -e file by percent, in microseconds.

    For few requests ab reads past the end of its own times: index 0.5 + N p may be N. Those lines
    are left out. Raises ValueError when the file is not whole.
    """
    lines = text.splitlines()
    if lines[:1] != [_CSV_HEAD]:
        raise ValueError(f"no line {_CSV_HEAD!r}")
    percentiles: dict[str, float] = {}
    for percent in range(101):
        row = lines[percent + 1] if percent + 1 < len(lines) else ""
        is_in_table = percent in {0, 100} or int(0.5 + complete * percent / 100.0) < complete
        match = re.fullmatch(rf"{percent},({_DECIMAL if is_in_table else '.*'})", row)
        if not match:
            raise ValueError(f"no line of {percent} percent")
        if is_in_table:
            percentiles[str(percent)] = round(float(match[1]) * 1000)
    growing("ab -e", percentiles.values())
    return percentiles


def _line(text: str, name: str, pattern: str) -> str:
    value = line(text, name, rf"{re.escape(name)}:(.*)")[1].strip()
    if not (match := re.fullmatch(pattern, value)):
        raise ValueError(f"{name!r}: not what ab prints: {value[:60]!r}")
    return str(match[1])


def _only_known(text: str) -> None:
    """Raise ValueError for a line of counts that is none of ab's: a spoilt one."""
    counts = text.partition("\nComplete requests:")[2].partition("\nTotal transferred:")[0]
    for row in counts.splitlines()[1:]:
        if not row.startswith(_COUNTS):
            raise ValueError(f"{row.strip()!r} is no line of ab's")


def _optional(text: str, name: str) -> int | None:
    return int(_line(text, name, _WHOLE)) if f"\n{name}:" in text else None


def _times(text: str, name: str) -> dict[str, float]:
    row = rf"{name}: +{_WHOLE} +{_WHOLE} +(\d{{1,15}}\.\d) +{_WHOLE} +{_WHOLE}"
    return dict(zip(_COLUMNS, map(float, line(text, name, row).groups()), strict=True))


def _times_per_request(text: str) -> dict[str, JsonValue]:
    kinds = {
        "time_per_request_ms": "mean",
        "time_per_request_across_ms": "mean, across all concurrent requests",
    }
    name, row = "Time per request", rf"Time per request: +{_DECIMAL} \[ms\]"
    return {key: float(line(text, name, rf"{row} \({end}\)")[1]) for key, end in kinds.items()}


def _check_rate(complete: int, seconds: float, rate: float) -> None:
    if seconds <= _TIME_ROUNDING_S:
        raise ValueError(f"'Time taken for tests': {seconds} s is too short for a measurement")
    lowest = complete / (seconds + _TIME_ROUNDING_S) * (1 - _RATE_TOLERANCE)
    highest = complete / (seconds - _TIME_ROUNDING_S) * (1 + _RATE_TOLERANCE)
    if not lowest - 0.01 <= rate <= highest + 0.01:
        raise ValueError(f"'Requests per second': {rate} is not {complete} requests in {seconds} s")


def good_bounds(report: AbReport) -> tuple[int, int]:
    """Return how many responses were good, at least and at most.

    A response of another length may well be good. The header of a request that is in flight at the
    end is counted by status, and the request is not: hence never below zero.
    """
    if not report.transferred:
        return 0, 0
    bad = {name: count for name, count in report.errors.items() if name != "connect"}
    lowest = max(0, report.complete - sum(bad.values()))
    return lowest, max(0, report.complete - max(bad["status"], bad["receive"], bad["write"]))


def unanswered(report: AbReport) -> int | None:
    """Return how many requests got no response; None where they are among the complete ones."""
    counts = report.errors
    if counts["receive"]:
        return None
    return counts["connect"] + counts["exceptions"] + counts.get("empty", 0)


def connections(report: AbReport, *, by_time: bool) -> int | None:
    """Return how many connections ab opened, where that is certain.

    Each complete request that was not kept alive ended a connection, which ab replaced. Near the
    end of a number of requests it stops replacing them, one sooner, one later. Until a first header
    has come, ab uses one connection only.
    """
    lost = any(report.errors[name] for name in ("connect", "exceptions", "receive"))
    if lost or not report.transferred:
        return None
    ended = report.complete - (report.kept or 0)
    return report.concurrency + ended if by_time or not ended else None


class Ab(Program):
    """ab 2.3: each connection sends its next request after the last response.

    Good to know:

    - ab speaks HTTP/1.0. A server that does not answer with `Connection: keep-alive` and a length
      closes after each response, even with -k. benchforge counts `connections` from the line
      `Keep-Alive requests`. If a server leaves the connection open without that header, or answers
      in chunks, ab waits until `timeout` and fails.
    - Of statuses, ab reports only the number that are not 2xx, so it treats 203 and 206 like 200.
      Responses are good if heads and bodies are, on average, as long as those of right answers.
    - Its classes of errors overlap: never add them. `status` (Non-2xx, including redirects) is
      counted when the header arrives. `length` counts bodies with another length than the first
      one, which means nothing on a page of varying length (see `variable_length`, and
      `expect.length` of the scenario).
    - ab takes a truncated body, or a response without a byte, as a complete request, and reports
      no error if it is as long as the first one. `document_bytes` is the length that ab took as
      right. If no byte arrived at all, benchforge counts no response, and the class `empty` has
      all requests.
    - A reset, a refusal or a missing answer ends ab without a report.
    - ab prints the mean of its times in whole milliseconds, and its `Time per request` is not a
      mean of measurements but connections x time / requests. Both are kept as claims only. With one
      connection, the mean is time / requests: each request follows the last response at once.
    - In turns, ab has no time limit of a response, and reports at SIGINT.
    - ab does not check certificates over HTTPS. The probes before and after the load do.
    """

    name: ClassVar[str] = "ab"
    debian: ClassVar[str] = "apache2-utils"
    asks_version: ClassVar[str] = "-V"
    interrupted_by: ClassVar[signal.Signals | None] = signal.SIGINT

    connections: PositiveInt = 10
    "Number of concurrent connections."
    duration: WholeSeconds | None = None
    "Length of the load in whole seconds. Default: 10 if `requests` is not given."
    requests: PositiveInt | None = None
    "Total number of requests, instead of a duration."
    keep_alive: bool = True
    "Reuse of a connection for the next request."
    timeout: WholeSeconds = Duration(30)
    "Time limit of one response in whole seconds. After it, ab fails."
    variable_length: bool = False
    "Permission for responses to differ in length without being errors."

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.duration is not None and self.requests is not None:
            msg = "a duration and a number of requests"
            raise WrongOption(msg, "requests", "duration", hint="leave one out")
        if self.requests is not None and self.requests < self.connections:
            msg = f"{self.connections} connections need as many requests, not {self.requests}"
            raise WrongOption(msg, "connections", "requests")
        return self

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. -n stands after -t, which would set it back."""
        percentiles = target.folder / _percentiles_file(target)
        return [
            Command(
                target.programs["ab"],
                "-q",
                *(["-k"] if self.keep_alive else []),
                *(["-l"] if self.variable_length else []),
                *("-s", self.timeout if target.turns is None else FROZEN_S),
                *("-e", percentiles),
                *(self._end() if target.turns is None else ("-t", FROZEN_S, "-n", BOUND)),
                *("-c", self.connections),
                *_request(target),
                target.url,
            )
        ]

    def read(self, output: Output) -> Reading:
        if output.code and not _interrupted(output):
            raise OutputDamaged(f"ab: {self._failure(output)}")
        name = _percentiles_file(output.target)
        try:
            report = AbReport.from_text(output.stdout)
            self._check(report)
        except ValueError as error:
            hint = "see what ab printed beside the trial"
            if "completed no request" in str(error) and self.keep_alive:
                # ab asks in HTTP/1.0: a server may keep the connection open and not say so.
                hint += "; try keep_alive = false: the server may not announce HTTP/1.0 keep-alive"
            raise OutputDamaged(f"ab: {error}", hint) from None
        with parsing(name, hint=""):
            percentiles = percentiles_us(output.file(name), report.complete)
        if abs(percentiles["100"] - report.longest_ms * 1000) > ROUNDED_US:
            raise OutputDamaged(f"{name}: its longest request is not that of the report")
        return self._reading(report, percentiles)

    def why_not_in_turns(self) -> str:
        """Return why it cannot take turns: a number of requests would end it by itself."""
        return "" if self.requests is None else "with requests ab cannot take turns"

    def declared_s(self) -> float:
        return self.requests / REQUESTS_PER_SECOND if self.requests else float(self._seconds)

    def load(self) -> Load:
        return super().load().model_copy(update={"processes": 1, "protocol": "HTTP/1.0"})

    def for_warm_up(self, seconds: float) -> "Ab":
        duration = Duration(max(1, math.ceil(seconds)))
        return self.model_copy(update={"duration": duration, "requests": None})

    @property
    def _seconds(self) -> Duration:
        return self.duration if self.duration is not None else Duration(10)

    def _end(self) -> Sequence[object]:
        return ("-n", self.requests) if self.requests else ("-t", self._seconds, "-n", BOUND)

    def _check(self, report: AbReport) -> None:
        if report.concurrency != self.connections:
            msg = f"'Concurrency Level': {report.concurrency}, asked were {self.connections}"
            raise ValueError(msg)
        if (report.kept is not None) != self.keep_alive:
            raise ValueError(f"{'no ' if self.keep_alive else 'a '}line 'Keep-Alive requests'")
        if report.complete > (self.requests or BOUND) or (report.kept or 0) > report.complete:
            raise ValueError(f"'Complete requests': {report.complete} cannot be")

    def _reading(self, report: AbReport, percentiles: Mapping[str, float]) -> Reading:
        answered = report.transferred > 0
        good_at_least, good_at_most = good_bounds(report)
        by_time = self.requests is None and report.complete < BOUND
        doubt = _LENGTHS if report.errors["length"] else "ab's classes of errors overlap"
        # Of one connection the requests follow each other at once.
        mean_us = min(report.seconds / report.complete * 1e6, percentiles["100"])
        return Reading(
            seconds=report.seconds,
            responses=report.complete if answered else 0,
            good_at_least=good_at_least,
            good_at_most=good_at_most,
            statuses={"2xx": max(0, report.complete - report.errors["status"])} if answered else {},
            doubt=doubt if good_at_least < good_at_most else "",
            errors=report.errors,
            overlapping_errors=sum(count > 0 for count in report.errors.values()) > 1,
            unanswered=unanswered(report),
            received_bytes=report.transferred,
            body_bytes=report.body_bytes,
            other_lengths=report.errors["length"],
            percentiles_us=dict(percentiles) if answered else None,
            percentiles_by="ab -e: steps of 1 %" if answered else "",
            mean_us=mean_us if answered and self.connections == 1 else None,
            latency_samples=report.complete if answered else None,
            connections=connections(report, by_time=by_time),
            document_bytes=report.document_bytes,
            server_software=report.software or None,
            printed=dict(report.claims),
        )

    def _failure(self, output: Output) -> str:
        lines = output.stderr.strip().splitlines() or [f"exit code {output.code}"]
        total = re.search(r"Total of (\d+) requests completed", output.stdout + output.stderr)
        progress = f" after {total[1] if total else 0} requests"
        if output.code < 0:
            return f"ended by signal {-output.code}"
        return {
            22: lines[0],
            104: f"the server reset a connection{progress}: {NOTHING_TOLD}",
            111: f"connection refused{progress}: {NOTHING_TOLD}",
            119: f"no answer within {self.timeout} s{progress}: {NOTHING_TOLD}",
        }.get(output.code, lines[-1])


def _interrupted(output: Output) -> bool:
    """Return True if ab ended at the signal that ends turns: it reports, and exits with 1."""
    reported = "\nComplete requests:" in output.stdout
    return output.target.turns is not None and output.code == INTERRUPTED and reported


def _percentiles_file(target: Target) -> str:
    return f"percentiles-{target.phase}.csv"


def _request(target: Target) -> Sequence[object]:
    others = dict(target.request.headers)
    if target.body_file is None:
        return (*_method(target.request), *headers(others))
    content_type = next((name for name in others if name.lower() == "content-type"), None)
    kind = others.pop(content_type) if content_type else "text/plain"
    return ("-p", target.body_file, "-T", kind, *_method(target.request), *headers(others))


def _method(request: Request) -> Sequence[str]:
    if request.method == "HEAD":
        return ("-i",)
    # -p alone means POST; -m after it names another.
    meant = "GET" if request.body is None else "POST"
    return () if request.method == meant else ("-m", request.method)
