"""oha: a closed loop in Rust, or a rate for all connections together."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import Command, Duration, Rate, Reading, Request, Target, WrongOption
from benchforge.plugin.load_tools import (
    Amount,
    Count,
    Printing,
    Seconds,
    Timed,
    ToolJson,
    WholeSeconds,
    counted,
    growing,
    headers,
    require,
)

_PERCENTS = ("10", "25", "50", "75", "90", "95", "99", "99.9", "99.99")


class _Summary(ToolJson):
    success_rate: Annotated[Amount, Field(alias="successRate")]
    total: Seconds
    slowest: Amount | None
    fastest: Amount | None
    average: Amount | None
    rate: Annotated[Amount, Field(alias="requestsPerSec")]
    total_data: Annotated[Count, Field(alias="totalData")]


class _Printed(ToolJson):
    summary: _Summary
    percentiles: Annotated[dict[str, Amount | None], Field(alias="latencyPercentiles")]
    statuses: Annotated[dict[str, Count], Field(alias="statusCodeDistribution")]
    errors: Annotated[dict[str, Count], Field(alias="errorDistribution")]


class Oha(Printing, Timed):
    """oha 1.x: each connection sends its next request after the last response.

    Good to know:

    - Its success rate counts responses of any status: a server that always answers 500 has 100 %.
    - With a rate, the connections share it. `correct` counts latencies from the time at which a
      request was due, as far as that many connections can.
    - Requests in flight at the end are dropped and not counted.
    - Latencies are those of responses only.
    """

    name: ClassVar[str] = "oha"
    install: ClassVar[str] = "cargo install oha, or a release of github.com/hatoo/oha"
    ends_on_time: ClassVar[bool] = True
    proved: ClassVar[Literal["run", "recordings"]] = "recordings"

    connections: PositiveInt = 10
    "Number of concurrent connections."
    rate: Rate | None = Field(default=None, ge=1)
    "Total number of requests per second. Default: a closed loop."
    correct: bool = False
    "Correction of latencies: they count from the time at which a request was due. It needs a rate."
    timeout: WholeSeconds = Duration(10)
    "Time limit of one request in whole seconds."
    keep_alive: bool = True
    "Reuse of a connection for the next request."

    @model_validator(mode="after")
    def _a_rate_to_correct_by(self) -> Self:
        if self.correct and self.rate is None:
            raise WrongOption("correct = true needs a rate", "correct", "rate")
        if self.rate is not None and not self.rate.is_integer():
            msg = f"oha takes a whole number of requests a second, not {self.rate}"
            raise WrongOption(msg, "rate")
        return self

    def commands(self, target: Target) -> Sequence[Command]:
        return [
            Command(
                target.programs["oha"],
                *("--no-tui", "--output-format", "json", "--redirect", "0"),
                *("-z", f"{self.duration}s", "-c", self.connections, "-t", f"{self.timeout}s"),
                *(["-q", self.rate] if self.rate is not None else []),
                *(["--latency-correction"] if self.correct else []),
                *("--disable-compression", "-m", target.request.method),
                *([] if self.keep_alive else ["--disable-keepalive"]),
                *(["-D", target.body_file] if target.body_file else []),
                *headers(target.request.headers),
                target.url,
            )
        ]

    def why_no_kinds(self, requests: Mapping[str, Request]) -> str:
        return "chooses from several URLs by itself, at random"

    def reading(self, text: str) -> Reading:
        printed = _Printed.from_json(text)
        summary, responses = printed.summary, sum(printed.statuses.values())
        ended, rate, total = responses + sum(printed.errors.values()), summary.rate, summary.total
        if abs(rate * total - ended) > 0.5 + 1e-9 * ended:
            raise ValueError(f"summary.requestsPerSec: {rate} is not {ended} requests in {total} s")
        for code in printed.statuses:
            sound = re.fullmatch(r"[1-9]\d\d", code)
            require(sound, f"statusCodeDistribution.{code}: no status")
        percentiles = _percentiles(printed) if responses else None
        due = ", from when each request was due" if self.correct else ""
        reading = counted(
            total,
            printed.statuses,
            _errors(printed.errors),
            body_bytes=summary.total_data,
            percentiles_us=percentiles,
            percentiles_by=f"oha{due}" if responses else "",
            mean_us=None if summary.average is None else summary.average * 1e6,
            latency_samples=responses or None,
            printed={
                "requests_per_second": rate,
                "success_rate": summary.success_rate,
                "total_data": summary.total_data,
                "status_codes": dict(printed.statuses),
                "errors": dict(printed.errors),
            },
        )
        defects = ("oha:success-rate-of-any-status",) if reading.errors["status"] else ()
        return reading.model_copy(update={"defects": defects})


def _errors(counts: Mapping[str, int]) -> dict[str, int]:
    classes = {"connect": 0, "timeout": 0, "read": 0}
    for message, count in counts.items():
        lowered = message.lower()
        late = "timeout" in lowered or "timed out" in lowered
        kind = "timeout" if late else "connect" if "refused" in lowered else "read"
        classes[kind] += count if message != "aborted due to deadline" else 0  # in flight
    return classes


def _percentiles(printed: _Printed) -> dict[str, float]:
    for percent in _PERCENTS:
        sound = f"p{percent}" in printed.percentiles
        require(sound, f"latencyPercentiles: p{percent} is missing")
    seconds = {
        "0": printed.summary.fastest,
        **{percent: printed.percentiles[f"p{percent}"] for percent in _PERCENTS},
        "100": printed.summary.slowest,
    }
    microseconds = {percent: value * 1e6 for percent, value in seconds.items() if value is not None}
    sound = len(microseconds) == len(seconds)
    require(sound, "latencyPercentiles: null, and there were responses")
    growing("latencyPercentiles", microseconds.values())
    return microseconds
