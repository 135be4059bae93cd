"""weighttp: a closed loop over a number of requests. 0.4 prints text, 0.5 JSON."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AliasPath, Field, PositiveInt, model_validator

from benchforge.plugin import Command, Duration, Reading, Target, WrongOption
from benchforge.plugin.load_tools import (
    Amount,
    Count,
    Printing,
    Seconds,
    ToolJson,
    WholeSeconds,
    agree,
    growing,
    headers,
    line,
    numbers,
    only_get,
    require,
)

_PERCENTS = ("0", "50", "66", "75", "80", "90", "95", "98", "99", "100")
_CLASSES = ("2xx", "3xx", "4xx", "5xx")
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


def _path(*steps: str) -> Any:
    """Return the place of a field in the document."""
    return Field(validation_alias=AliasPath(*steps))


class _Report(ToolJson):
    """What 0.5 prints, and 0.4 in part; `passed` are whole responses of 2xx and 3xx."""

    seconds: Annotated[Seconds, _path("secs_elapsed")]
    rate: Annotated[Amount, _path("reqs_per_sec")]
    kbps: Annotated[Amount, _path("kBps_per_sec")]
    started: Annotated[Count, _path("request_counts", "started")]
    done: Annotated[Count, _path("request_counts", "retired")]
    kept: Annotated[int, _path("request_counts", "keep-alive"), Field(ge=0, lt=_UNSIGNED)]
    passed: Annotated[Count, _path("response_counts", "pass")]
    failed: Annotated[Count, _path("response_counts", "fail")]
    errored: Annotated[Count, _path("response_counts", "errs")]
    "Lost requests, which are not among the failed ones."
    codes: Annotated[dict[str, Count], _path("status_codes")]
    "Number of heads by class of their status."
    received_bytes: Annotated[Count, _path("traffic", "bytes_total")]
    head_bytes: Annotated[Count, _path("traffic", "bytes_headers")]
    body_bytes: Annotated[Count, _path("traffic", "bytes_body")]
    connect_times: dict[str, Count | str]
    response_times: dict[str, Count | str]
    "Times of all requests, failed ones among them."
    total_times: dict[str, Count | str]

    @classmethod
    def from_lines(cls, text: str) -> "_Report":
        """Read the report of 0.4. Raises ValueError that says what is missing or wrong."""
        line(text, "weighttp 0.4", r"weighttp 0\.4 - .*")
        took, counts, codes, (total, heads, bodies) = rows = numbers(text, _LINES)
        if any(isinstance(number, float) for row in rows for number in row):
            raise ValueError("a number with a point, and weighttp 0.4 prints none")
        require(total == heads + bodies, "'traffic:': its parts are not the total")
        seconds = took[0] + took[1] / 1e3 + took[2] / 1e6
        require(seconds > 0, "'finished in': no time")
        fields: dict[str, Any] = {
            "seconds": seconds,
            "rate": float(took[3]),
            "done": counts[2],
            "kept": 0,
            "passed": counts[3],
            "failed": counts[4],
            "errored": 0,
            "codes": dict(zip(_CLASSES, codes, strict=True)),
            "received_bytes": total,
            "body_bytes": bodies,
        }
        return cls.model_construct(**fields)

    def reading(self) -> Reading:
        """Return the report as a reading. Raises ValueError where it contradicts itself."""
        require(set(self.codes) == set(_CLASSES), f"status_codes: {sorted(self.codes)}")
        failed, heads = self.failed + self.errored, sum(self.codes.values())
        if self.passed + failed != self.done or heads > self.done:
            raise ValueError(
                f"{self.done} requests are not {self.passed} that passed and {failed} "
                f"that failed, with {heads} statuses"
            )
        good, bad = self.codes["2xx"] + self.codes["3xx"], self.codes["4xx"] + self.codes["5xx"]
        require(self.passed <= good, f"{self.passed} passed, with {good} good statuses")
        # Rates are cut to whole numbers.
        agree("req/s", self.done, self.seconds, self.rate + 0.5, 0.01 + 1 / (self.rate + 1))
        cut_or_lost = self.done - self.passed - bad
        times, opened, mean_us = dict[str, float](), None, None
        if has_times := "response_times" in self.model_fields_set:
            times, opened = _times(self.response_times, self.done), self.connect_times.get("num")
            mean_us = _number(self.response_times, "avg")
        timed = has_times and self.done > 0
        defects = {
            "weighttp-0.5:keep-alive-underflow": self.kept > self.done,
            "weighttp-0.5:failures-in-latency": timed and cut_or_lost > 0,
        }
        return Reading(
            seconds=self.seconds,
            responses=self.passed + bad,
            good_at_least=self.passed,
            good_at_most=self.passed,
            # Heads are counted, of responses that were cut too.
            statuses={"200-399": self.passed} if cut_or_lost else self.codes,
            errors={"status": bad, "failed": cut_or_lost},
            unanswered=cut_or_lost,
            received_bytes=self.received_bytes,
            body_bytes=self.body_bytes,
            percentiles_us=times if timed else None,
            percentiles_by="weighttp 0.5, failed requests among them" if timed else "",
            mean_us=mean_us if timed else None,
            latency_samples=self.done if timed else None,
            connections=opened if isinstance(opened, int) else None,
            printed={
                "version": "0.5" if has_times else "0.4",
                "requests_per_second": self.rate,
                "failed": failed,
                "status_codes": dict(self.codes),
            },
            defects=tuple(name for name, touches in defects.items() if touches),
        )


def _times(fields: Mapping[str, int | str], done: int) -> dict[str, float]:
    unit = fields.get("unit")
    require(unit == "us", f"response_times: its unit is {unit!r}, not us")
    if _number(fields, "num") != done:
        raise ValueError(f"response_times: {fields['num']} times of {done} requests")
    times: dict[str, float] = {percent: _number(fields, f"{percent}%") for percent in _PERCENTS}
    growing("response_times", times.values())
    return times


def _number(fields: Mapping[str, int | str], key: str) -> int:
    value = fields.get(key)
    if not isinstance(value, int):
        raise ValueError(f"response_times.{key}: no number")  # noqa: TRY004 - of the tool
    return value


class Weighttp(Printing):
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
        named = {
            "Host" if key.lower() == "host" else key: value
            for key, value in target.request.headers.items()
        }
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

    def reading(self, text: str) -> Reading:
        _, brace, fields = text.partition("{\n")
        report = _Report.from_json(brace + fields) if brace else _Report.from_lines(text)
        if self.duration is None and report.done != self._requests:
            raise ValueError(f"{report.done} requests done, asked were {self._requests}")
        return report.reading()

    def declared_s(self) -> float:
        if self.duration is not None:
            return float(self.duration)
        return self._requests / REQUESTS_PER_SECOND

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
