"""hey: a closed loop in Go, with an optional pace."""

import re
from collections.abc import Sequence
from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import Command, Duration, Output, Rate, Reading, Request, Target, readable
from benchforge.plugin.load_tools import (
    Printing,
    Timed,
    WholeSeconds,
    counted,
    growing,
    headers,
    lasted,
    line,
    optional,
    require,
)

# What hey keeps of each response, it keeps of so many only.
KEPT = 1_000_000
_PERCENTS = (10, 25, 50, 75, 90, 95, 99)
_SECS = r"(-?\d{1,9}\.\d{4}| ?NaN)"
_ERROR = re.compile(r"^  \[(\d{1,15})\]\t(.*)$", re.MULTILINE)
_STATUS = re.compile(r"^  \[(\d{3})\]\t(\d{1,15}) responses$", re.MULTILINE)
_PERCENT = re.compile(rf"^  (\d{{1,2}})%{{1,2}} in {_SECS} secs$", re.MULTILINE)
_BAR = re.compile(r"^  \d+\.\d{3} \[(\d{1,15})\]\t\|", re.MULTILINE)


class Hey(Printing, Timed):
    """hey 0.1: each worker sends its next request after the last response.

    Good to know:

    - Times are rounded to 0.1 ms.
    - hey does not check that a body is complete: it takes a truncated one as a good response.
    - hey silently repeats a request whose connection was closed.
    - By default it follows redirects and accepts gzip. benchforge turns both off.
    - `Total data` is the sum of the lengths in headers, not of the received bytes.
    - hey loses the statuses after one million responses. benchforge rejects such a run.
    - Each worker keeps its own rate. A late worker does not catch up.
    """

    name: ClassVar[str] = "hey"
    install: ClassVar[str] = "apt-get install hey (Debian), or build github.com/rakyll/hey"
    debian: ClassVar[str] = "hey"
    asks_version: ClassVar[str] = ""

    connections: PositiveInt = 10
    "Number of concurrent connections."
    rate: Rate | None = None
    "Total number of requests per second. Default: a closed loop."
    timeout: WholeSeconds = Duration(20)
    "Time limit of one request in whole seconds."
    keep_alive: bool = True
    "Reuse of a connection for the next request."

    def commands(self, target: Target) -> Sequence[Command]:
        return [
            Command(
                target.programs["hey"],
                *("-z", f"{self.duration}s", "-c", self.connections, "-t", self.timeout),
                *(["-q", self.rate / self.connections] if self.rate else []),
                *("-m", target.request.method, "-disable-redirects", "-disable-compression"),
                *([] if self.keep_alive else ["-disable-keepalive"]),
                *(["-D", target.body_file] if target.body_file else []),
                *_headers(target.request),
                target.url,
            )
        ]

    def read(self, output: Output) -> Reading:
        reading = super().read(output)
        lasted("hey", reading.seconds, self.duration)
        return reading

    def reading(self, text: str) -> Reading:
        line(text, "Summary:", "Summary:")
        seconds = float(line(text, "Total:", rf"  Total:\t{_SECS} secs")[1])
        require(seconds > 0, "'Total:': no time")
        rate = float(line(text, "Requests/sec:", r"  Requests/sec:\t(\d{1,12}\.\d{4})")[1])
        mean = float(line(text, "Average:", rf"  Average:\t{_SECS} secs")[1])
        slowest = float(line(text, "Slowest:", rf"  Slowest:\t{_SECS} secs")[1])
        fastest = float(line(text, "Fastest:", rf"  Fastest:\t{_SECS} secs")[1])
        line(text, "Status code distribution:", "Status code distribution:")
        # It leaves the line out where no head promised a byte.
        promised = optional(
            text, "Total data:", "  Total data:", r"  Total data:\t(\d{1,18}) bytes"
        )
        sound = promised or "\n  Size/request:" not in text
        require(sound, "no line 'Total data:' above 'Size/request:'")
        head, failed, tail = text.partition("\nError distribution:\n")
        statuses = {code: int(count) for code, count in _STATUS.findall(head)}
        errors = _errors(tail)
        whole = text.endswith("\n\n" if failed else "\n\n\n")
        require(whole, "'Error distribution:': it ends in the middle")
        responses, lost = sum(statuses.values()), sum(errors.values())
        _whole(head, responses, lost, seconds, rate)
        percentiles = _percentiles(head, responses, fastest, slowest) if responses else None
        return counted(
            seconds,
            statuses,
            errors,
            promised_bytes=int(promised[1]) if promised else 0,
            percentiles_us=percentiles,
            percentiles_by="hey, rounded to 0.1 ms" if responses else "",
            mean_us=mean * 1e6 if responses else None,
            latency_samples=responses or None,
            printed={
                "requests_per_second": rate,
                "status_codes": dict(statuses),
                "errors": {message: int(count) for count, message in _ERROR.findall(tail)[:20]},
            },
            # Whether a body was cut or a request sent again is not told: it may have been.
            defects=("hey:100us-rounding", "hey:cut-bodies-are-good", "hey:silent-retries"),
        )


def _headers(request: Request) -> list[str]:
    hosts = [value for name, value in request.headers.items() if name.lower() == "host"]
    others = {name: value for name, value in request.headers.items() if name.lower() != "host"}
    return [*(["-host", hosts[0]] if hosts else []), *headers(others)]


def _whole(head: str, responses: int, lost: int, seconds: float, rate: float) -> None:
    requests = rate * seconds
    rounding = rate * 0.00005 + seconds * 0.00005 + 1
    if responses == KEPT and requests > responses + lost + rounding:
        raise ValueError(
            f"it kept the status of the first {KEPT} responses of "
            f"{readable.exact(round(requests))}: make the duration shorter"
        )
    if abs(requests - responses - lost) > rounding:
        raise ValueError(
            f"'Requests/sec:': {rate} is not {responses} responses and {lost} errors in {seconds} s"
        )
    sound = sum(map(int, _BAR.findall(head))) == responses
    require(sound, f"'Response time histogram:': it does not hold {responses} responses")


def _errors(text: str) -> dict[str, int]:
    classes = {"connect": 0, "timeout": 0, "read": 0}
    for count, message in _ERROR.findall(text):
        late = "Timeout exceeded" in message or "deadline exceeded" in message
        kind = "timeout" if late else "connect" if ": dial " in message else "read"
        classes[kind] += int(count)
    return classes


def _percentiles(text: str, responses: int, fastest: float, slowest: float) -> dict[str, float]:
    # Of those that it does not know it says "0% in 0.0000 secs".
    seconds_by_percent = {percent: float(value) for percent, value in _PERCENT.findall(text)}
    printed = [str(percent) for percent in _printed(responses)]
    for percent in printed:
        require(percent in seconds_by_percent, f"no line '{percent}%% in'")
    reported = {percent: seconds_by_percent[percent] for percent in printed}
    by_percent = {"0": fastest, **reported, "100": slowest}
    growing("Latency distribution", by_percent.values())
    return {percent: round(value * 1e6) for percent, value in by_percent.items()}


def _printed(responses: int) -> list[int]:
    """Return the percentiles that hey prints of so many times: of few ones not all."""
    percents_left = list(_PERCENTS)
    for index in range(min(responses, KEPT)):
        if percents_left and index * 100 // responses >= percents_left[0]:
            percents_left.pop(0)
    return list(_PERCENTS[: len(_PERCENTS) - len(percents_left)])
