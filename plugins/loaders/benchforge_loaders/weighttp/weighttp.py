"""weighttp: a closed loop over a number of requests. 0.4 prints text, 0.5 JSON."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, JsonValue, PositiveInt, model_validator

from benchforge.plugin import Command, Duration, Load, Output, Reading, Target, WrongOption
from benchforge.plugin.load_tools import (
    Amount,
    Count,
    Program,
    Seconds,
    ToolJson,
    WholeSeconds,
    agree,
    ended_well,
    growing,
    headers,
    line,
    numbers,
    only_get,
    parsing,
)

_PERCENTS = ("0", "50", "66", "75", "80", "90", "95", "98", "99", "100")
_UNSIGNED = 2**64
_LINES = """\
finished in # sec, # millisec and # microsec, # req/s, # kbyte/s
requests: # total, # started, # done, # succeeded, # failed, # errored
status codes: # 2xx, # 3xx, # 4xx, # 5xx
traffic: # bytes total, # bytes http, # bytes data"""

# For estimates only: how long a number of requests takes.
REQUESTS_PER_SECOND = 1000
# A time limit alone is not enough for weighttp 0.5.
BOUND = 10_000_000


class _Requests(ToolJson):
    started: Count
    retired: Count
    kept: Annotated[int, Field(alias="keep-alive", ge=0, lt=_UNSIGNED)]


class _Responses(ToolJson):
    passed: Annotated[Count, Field(alias="pass")]
    failed: Annotated[Count, Field(alias="fail")]
    errs: Count


class _Traffic(ToolJson):
    bytes_total: Count
    bytes_headers: Count
    bytes_body: Count


class _Json(ToolJson):
    reqs_per_sec: Amount
    kbps: Annotated[Amount, Field(alias="kBps_per_sec")]
    secs_elapsed: Seconds
    request_counts: _Requests
    response_counts: _Responses
    status_codes: dict[str, Count]
    traffic: _Traffic
    connect_times: dict[str, Count | str]
    response_times: dict[str, Count | str]
    total_times: dict[str, Count | str]


@dataclass(frozen=True)
class WeighttpReport:
    """Counts of one run; `passed` are whole responses of 2xx and 3xx."""

    version: str
    seconds: float
    done: int
    passed: int
    failed: int
    codes: tuple[int, int, int, int]
    "Headers with a status of 2xx, 3xx, 4xx and 5xx."
    received_bytes: int
    body_bytes: int
    rate: float
    connections: int | None = None
    times: dict[str, int] = field(default_factory=dict)
    "Percent as text to microseconds, failed requests among them."
    mean_us: float | None = None
    underflow: bool = False

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the report. Raises ValueError that says what is missing or wrong."""
        head, brace, _ = text.partition("{\n")
        report = cls._of_json(text[len(head) :]) if brace else cls._of_lines(text)
        if report.passed + report.failed != report.done or sum(report.codes) > report.done:
            raise ValueError(
                f"{report.done} requests are not {report.passed} that passed and {report.failed} "
                f"that failed, with {sum(report.codes)} statuses"
            )
        if report.passed > sum(report.codes[:2]):
            raise ValueError(f"{report.passed} passed, with {sum(report.codes[:2])} good statuses")
        # Rates are cut to whole numbers.
        agree("req/s", report.done, report.seconds, report.rate + 0.5, 0.01 + 1 / (report.rate + 1))
        return report

    @classmethod
    def _of_lines(cls, text: str) -> Self:
        line(text, "weighttp 0.4", r"weighttp 0\.4 - .*")
        took, counts, codes, (total, heads, bodies) = rows = numbers(text, _LINES)
        if any(isinstance(number, float) for row in rows for number in row):
            raise ValueError("a number with a point, and weighttp 0.4 prints none")
        if total != heads + bodies:
            raise ValueError("'traffic:': its parts are not the total")
        seconds = took[0] + took[1] / 1e3 + took[2] / 1e6
        if seconds <= 0:
            raise ValueError("'finished in': no time")
        return cls(
            version="0.4",
            seconds=seconds,
            done=counts[2],
            passed=counts[3],
            failed=counts[4],
            codes=(codes[0], codes[1], codes[2], codes[3]),
            received_bytes=total,
            body_bytes=bodies,
            rate=float(took[3]),
        )

    @classmethod
    def _of_json(cls, text: str) -> Self:
        json = _Json.from_json(text)
        if set(json.status_codes) != {"2xx", "3xx", "4xx", "5xx"}:
            raise ValueError(f"status_codes: {sorted(json.status_codes)}")
        codes = json.status_codes
        # All of them are retired; an error is one of those that failed.
        times = _times(json.response_times, json.request_counts.retired)
        opened = json.connect_times.get("num")
        return cls(
            version="0.5",
            seconds=json.secs_elapsed,
            done=json.request_counts.retired,
            passed=json.response_counts.passed,
            failed=json.response_counts.failed + json.response_counts.errs,
            codes=(codes["2xx"], codes["3xx"], codes["4xx"], codes["5xx"]),
            received_bytes=json.traffic.bytes_total,
            body_bytes=json.traffic.bytes_body,
            rate=json.reqs_per_sec,
            connections=opened if isinstance(opened, int) else None,
            times=times,
            mean_us=_number(json.response_times, "avg"),
            underflow=json.request_counts.kept > json.request_counts.retired,
        )

    def _classes(self) -> dict[str, int]:
        return dict(zip(("2xx", "3xx", "4xx", "5xx"), self.codes, strict=True))

    def reading(self) -> Reading:
        """Return the report as a reading."""
        bad = self.codes[2] + self.codes[3]
        cut_or_lost = self.done - self.passed - bad
        timed = bool(self.times) and self.done > 0
        claims: dict[str, JsonValue] = {
            "version": self.version,
            "requests_per_second": self.rate,
            "failed": self.failed,
            "status_codes": dict(self._classes()),
        }
        defects = {
            "weighttp-0.5:keep-alive-underflow": self.underflow,
            "weighttp-0.5:failures-in-latency": timed and cut_or_lost > 0,
        }
        return Reading(
            seconds=self.seconds,
            responses=self.passed + bad,
            good_at_least=self.passed,
            good_at_most=self.passed,
            # Heads are counted, of responses that were cut too.
            statuses={"200-399": self.passed} if cut_or_lost else self._classes(),
            errors={"status": bad, "failed": cut_or_lost},
            unanswered=cut_or_lost,
            received_bytes=self.received_bytes,
            body_bytes=self.body_bytes,
            percentiles_us=dict(self.times) if timed else None,
            percentiles_by="weighttp 0.5, failed requests among them" if timed else "",
            mean_us=self.mean_us if timed else None,
            latency_samples=self.done if timed else None,
            connections=self.connections,
            printed=claims,
            defects=tuple(name for name, touches in defects.items() if touches),
        )


def _times(fields: dict[str, int | str], done: int) -> dict[str, int]:
    if fields.get("unit") != "us":
        raise ValueError(f"response_times: its unit is {fields.get('unit')!r}, not us")
    if _number(fields, "num") != done:
        raise ValueError(f"response_times: {fields['num']} times of {done} requests")
    times = {percent: _number(fields, f"{percent}%") for percent in _PERCENTS}
    growing("response_times", times.values())
    return times


def _number(fields: dict[str, int | str], key: str) -> int:
    value = fields.get(key)
    if not isinstance(value, int):
        raise ValueError(f"response_times.{key}: no number")  # noqa: TRY004 - of the tool
    return value


class Weighttp(Program):
    """weighttp 0.4 and 0.5: each client sends its next request after the last response.

    Good to know:

    - The two versions are different programs; the output shows which one ran. `duration` needs
      0.5. 0.4 reports neither latencies nor connections.
    - Failing requests are counted at full speed: a dead server shows a high rate of failures. A
      truncated body is a failure in addition to its status 2xx: only complete responses of 2xx and
      3xx succeed. An error page counts as complete.
    - 0.5 includes failed requests in its latencies.
    - 0.5 prints 2^64 minus a number as `keep-alive` if its connections were closed.
    - Neither has a time limit of one request: a server that never answers ends the trial.
    """

    name: ClassVar[str] = "weighttp"
    install: ClassVar[str] = (
        'build github.com/lighttpd/weighttp and put it on PATH; or use = "pace", which is built in'
    )
    asks_version: ClassVar[str] = "-v"
    proved: ClassVar[Literal["run", "recordings"]] = "recordings"

    connections: PositiveInt = 10
    "Number of concurrent connections."
    threads: PositiveInt = 1
    "Number of threads of the tool. They share the connections."
    requests: PositiveInt | None = None
    "Total number of requests. Default: 10 000 if `duration` is not given."
    duration: WholeSeconds | None = None
    "Length of the load in whole seconds, instead of a number of requests."
    keep_alive: bool = True
    "Reuse of a connection for the next request."

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.duration is not None and self.requests is not None:
            msg = "a duration and a number of requests"
            raise WrongOption(msg, "requests", "duration", hint="leave one out")
        if not self.threads <= self.connections <= self._requests:
            msg = (
                f"{self.threads} threads, {self.connections} connections, {self._requests} "
                "requests: each needs as many of the next"
            )
            raise WrongOption(msg, "threads", "connections", "requests")
        return self

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. Raises BenchforgeError for anything but GET."""
        only_get("weighttp", target.request)
        # It adds a Host of its own unless it finds exactly this spelling.
        named = {"Host" if k.lower() == "host" else k: v for k, v in target.request.headers.items()}
        return [
            Command(
                target.programs["weighttp"],
                *("-n", self._requests),
                *(["-a", self.duration] if self.duration is not None else []),
                *("-c", self.connections, "-t", self.threads),
                *(["-k"] if self.keep_alive else []),
                *headers(named),
                target.url,
            )
        ]

    def read(self, output: Output) -> Reading:
        ended_well("weighttp", output)
        with parsing("weighttp"):
            report = WeighttpReport.from_text(output.stdout)
            if self.duration is None and report.done != self._requests:
                raise ValueError(f"{report.done} requests done, asked were {self._requests}")
        return report.reading()

    def declared_s(self) -> float:
        if self.duration is not None:
            return float(self.duration)
        return self._requests / REQUESTS_PER_SECOND

    def load(self) -> Load:
        return super().load().model_copy(update={"protocol": "HTTP/1.1"})

    def for_warm_up(self, seconds: float) -> Self:
        if self.duration is not None:
            return self.model_copy(update={"duration": Duration(max(1, math.ceil(seconds)))})
        requests = max(self.connections, math.ceil(seconds * REQUESTS_PER_SECOND))
        return self.model_copy(update={"requests": requests})

    @property
    def _requests(self) -> int:
        if self.requests is not None:
            return self.requests
        return 10_000 if self.duration is None else BOUND
