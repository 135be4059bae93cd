"""hey: a closed loop in Go, with an optional pace."""

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from pydantic import PositiveInt

from benchforge.plugin import (
    Command,
    Duration,
    Need,
    Output,
    OutputDamaged,
    Rate,
    Reading,
    Request,
    Target,
    hookimpl,
)
from benchforge_loaders.printed import BAD, growing, line
from benchforge_loaders.timed import Timed, WholeSeconds, ended_well, headers, lasted

# What hey keeps of each response, it keeps of so many only.
KEPT = 1_000_000
_PERCENTS = (10, 25, 50, 75, 90, 95, 99)
_SECS = r"(-?\d{1,9}\.\d{4}| ?NaN)"
_ERROR = re.compile(r"^  \[(\d{1,15})\]\t(.*)$", re.MULTILINE)
_STATUS = re.compile(r"^  \[(\d{3})\]\t(\d{1,15}) responses$", re.MULTILINE)
_PERCENT = re.compile(rf"^  (\d{{1,2}})%{{1,2}} in {_SECS} secs$", re.MULTILINE)
_BAR = re.compile(r"^  \d+\.\d{3} \[(\d{1,15})\]\t\|", re.MULTILINE)


class Hey(Timed):
    """hey 0.1: each worker sends its next request when the last one is answered.

    Good to know:

    - Its times are rounded to 0.1 ms.
    - It does not look whether a body came whole: one cut short is a good response to it.
    - A request whose connection was closed under it is sent again, and nobody is told.
    - It follows redirects and asks for gzip: both are switched off here.
    - `Total data` is what the headers promised, not what came.
    - It forgets the status of what comes after a million responses: such a run is refused.
    - A pace is kept by each worker alone: one that is late does not catch up.
    """

    name: ClassVar[str] = "hey"

    connections: PositiveInt = 10
    "That are open at once."
    rate: Rate | None = None
    "Requests a second, of all connections together; as fast as it goes without it."
    timeout: WholeSeconds = Duration(20)
    "Whole seconds for one request."
    keep_alive: bool = True
    "Whether a connection is used for the next request."

    def needs(self) -> Iterable[Need]:
        """Return hey, which tells no version."""
        install = "apt-get install hey (Debian), or build github.com/rakyll/hey"
        return [Need("hey", install, debian="hey")]

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command."""
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
        """Return what hey printed. Raises OutputDamaged when it failed or that is not whole."""
        ended_well("hey", output)
        try:
            reading = _reading(output.stdout)
        except ValueError as error:
            raise OutputDamaged(f"hey: {error}", "see what hey printed beside the trial") from None
        lasted("hey", reading.seconds, self.duration)
        return reading


def _headers(request: Request) -> list[str]:
    hosts = [value for name, value in request.headers.items() if name.lower() == "host"]
    others = {name: value for name, value in request.headers.items() if name.lower() != "host"}
    return [*(["-host", hosts[0]] if hosts else []), *headers(others)]


def _reading(text: str) -> Reading:
    line(text, "Summary:", "Summary:")
    seconds = float(line(text, "Total:", rf"  Total:\t{_SECS} secs")[1])
    if not seconds > 0:
        raise ValueError("'Total:': no time")
    rate = float(line(text, "Requests/sec:", r"  Requests/sec:\t(\d{1,12}\.\d{4})")[1])
    mean = float(line(text, "Average:", rf"  Average:\t{_SECS} secs")[1])
    slowest = float(line(text, "Slowest:", rf"  Slowest:\t{_SECS} secs")[1])
    fastest = float(line(text, "Fastest:", rf"  Fastest:\t{_SECS} secs")[1])
    line(text, "Status code distribution:", "Status code distribution:")
    head, failed, tail = text.partition("\nError distribution:\n")
    statuses = {int(code): int(count) for code, count in _STATUS.findall(head)}
    errors = _errors(tail)
    if not text.endswith("\n\n" if failed else "\n\n\n"):
        raise ValueError("'Error distribution:': it ends in the middle")
    responses, lost = sum(statuses.values()), sum(errors.values())
    _whole(head, responses, lost, seconds, rate)
    bad = sum(count for code, count in statuses.items() if code >= BAD)
    percentiles = _percentiles(head, responses, fastest, slowest) if responses else None
    return Reading(
        seconds=seconds,
        responses=responses,
        good_at_least=responses - bad,
        good_at_most=responses - bad,
        errors={"status": bad, **errors},
        unanswered=lost,
        percentiles_us=percentiles,
        percentiles_by="hey, rounded to 0.1 ms" if responses else "",
        mean_us=mean * 1e6 if responses else None,
        latency_samples=responses or None,
        claims={
            "requests_per_second": rate,
            "status_codes": {str(code): count for code, count in statuses.items()},
            "errors": {message: int(count) for count, message in _ERROR.findall(tail)[:20]},
        },
        # Whether a body was cut or a request sent again is not told: it may have been.
        defects=("hey:100us-rounding", "hey:cut-bodies-are-good", "hey:silent-retries"),
    )


def _whole(head: str, responses: int, lost: int, seconds: float, rate: float) -> None:
    requests = rate * seconds
    rounding = rate * 0.00005 + seconds * 0.00005 + 1
    if responses == KEPT and requests > responses + lost + rounding:
        raise ValueError(
            f"it kept the status of the first {KEPT} responses of {requests:.0f}: "
            "make the duration shorter"
        )
    if abs(requests - responses - lost) > rounding:
        raise ValueError(
            f"'Requests/sec:': {rate} is not {responses} responses and {lost} errors in {seconds} s"
        )
    if sum(map(int, _BAR.findall(head))) != responses:
        raise ValueError(f"'Response time histogram:': it does not hold {responses} responses")


def _errors(text: str) -> dict[str, int]:
    classes = {"connect": 0, "timeout": 0, "read": 0}
    for count, message in _ERROR.findall(text):
        late = "Timeout exceeded" in message or "deadline exceeded" in message
        kind = "timeout" if late else "connect" if ": dial " in message else "read"
        classes[kind] += int(count)
    return classes


def _percentiles(text: str, responses: int, fastest: float, slowest: float) -> dict[str, float]:
    # Of those that it does not know it says "0% in 0.0000 secs".
    found = {percent: float(value) for percent, value in _PERCENT.findall(text)}
    printed = [str(percent) for percent in _printed(responses)]
    if absent := [percent for percent in printed if percent not in found]:
        raise ValueError(f"no line '{absent[0]}%% in'")
    known = {percent: found[percent] for percent in printed}
    whole = {"0": fastest, **known, "100": slowest}
    growing("Latency distribution", whole.values())
    return {percent: round(value * 1e6) for percent, value in whole.items()}


def _printed(responses: int) -> list[int]:
    """Return the percentiles that hey prints of so many times: of few ones not all."""
    left = list(_PERCENTS)
    for place in range(min(responses, KEPT)):
        if left and place * 100 // responses >= left[0]:
            left.pop(0)
    return list(_PERCENTS[: len(_PERCENTS) - len(left)])


@hookimpl
def benchforge_parts() -> list[type[Timed]]:
    """Return hey."""
    return [Hey]
