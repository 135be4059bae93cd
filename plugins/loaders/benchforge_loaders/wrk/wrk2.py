"""wrk2: wrk at a fixed rate, with latencies from the moment when a request was due."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import Command, Duration, Output, Rate, Reading, Target, WrongOption
from benchforge.plugin.load_tools import (
    Printing,
    Timed,
    WholeSeconds,
    growing,
    line,
    only_get,
    optional,
    require,
)
from benchforge_loaders.wrk.wrk import HOOK, STREAM, stream_environment, taken_of

_US = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 6e7, "h": 3.6e9}
_TIME = r"(\d{1,9}\.\d\d)(us|ms|s|m|h)"
_TOTAL = rf"  (\d{{1,15}}) requests in {_TIME}, ([\d.]{{1,12}}[KMGT]?B) read"
_ROW = r" +\d{1,12}\.\d{3} +[01]\.\d{6} +\d{1,15} +(?:\d{1,15}\.\d\d|inf)"
_PERCENTS = ("50", "75", "90", "99", "99.9", "99.99", "99.999", "100")
_HEAD = "Latency Distribution (HdrHistogram - Recorded Latency)"
_SENT_HEAD = (
    "Latency Distribution (HdrHistogram - Uncorrected Latency "
    "(measured without taking delayed starts into account))"
)
_RULE = "-" * 58 + "\n"  # below each distribution


class Wrk2(Printing, Timed):
    """wrk2, a wrk 4 with -R: requests are due at a fixed rate, and late ones wait.

    Good to know:

    - A latency counts from the time at which the request was due: an overloaded server shows
      seconds.
    - Its timers have a resolution of one millisecond, which adds about 1 ms to every latency. A
      fast server looks as slow as that.
    - The first 10 seconds calibrate, and their latencies are dropped. A shorter run keeps all of
      them. Use 30 seconds.
    - Every 2 seconds, wrk2 counts the connections that have waited longer than `timeout`. So
      `timeout` counts observations, not requests, and does not show whether a response arrived.
    - wrk2 reports only statuses of 400 and above. Other responses are good if all of them, by
      their bytes, are as long as right answers.
    - Bytes and latencies are printed with three digits, so bytes are not exact.
    """

    name: ClassVar[str] = "wrk2"
    install: ClassVar[str] = (
        "build github.com/giltene/wrk2 and put its wrk on PATH as wrk2; "
        'or use = "pace", which is built in'
    )
    asks_version: ClassVar[str] = "-v"
    ends_on_time: ClassVar[bool] = True
    keep_alive: ClassVar[bool] = True
    proved: ClassVar[Literal["run", "recordings"]] = "recordings"

    rate: Rate = Field(default=Rate(1000), ge=1)
    "Total number of requests per second. Each thread must have a whole number of them."
    connections: PositiveInt = 10
    "Number of concurrent connections."
    threads: PositiveInt = 1
    "Number of threads of the tool. They share connections and rate."
    timeout: WholeSeconds = Duration(2)
    "Time in whole seconds after which wrk2 counts a connection as waiting."

    @model_validator(mode="after")
    def _shared_out(self) -> Self:
        if self.connections % self.threads or self.rate % self.threads:
            msg = (
                f"{self.threads} threads cannot share {self.connections} connections and "
                f"{self.rate} requests a second evenly: wrk2 leaves the rest out"
            )
            raise WrongOption(msg, "threads", "connections", "rate")
        return self

    def files(self, target: Target) -> Mapping[str, str]:
        """Return the request in a file: other users can read arguments."""
        return {} if target.stream is not None else {**super().files(target), **target.head}

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. Raises BenchforgeError for anything but GET without a mix."""
        if target.stream is None:
            only_get("wrk2", target.request)
            script, environment = HOOK, {"BENCHFORGE_WRK_HEAD": str(target.head_file)}
        else:
            script, environment = STREAM, stream_environment(target, self.threads)
        return [
            Command(
                target.programs["wrk2"],
                *(f"-t{self.threads}", f"-c{self.connections}", f"-d{self.duration}s"),
                *(f"-R{self.rate}", "--timeout", f"{self.timeout}s", "--latency", "--u_latency"),
                *("-s", script, target.root),
                environment=environment,
            )
        ]

    def read(self, output: Output) -> Reading:
        reading, (taken, began_again) = super().read(output), taken_of(output)
        update = {"records_taken": taken, "stream_began_again": began_again}
        return reading.model_copy(update=update)

    def why_no_kinds(self, requests: Mapping[str, object]) -> str:
        return ""

    def reading(self, text: str) -> Reading:
        text, sent = _apart(text)
        total = line(text, "requests in", _TOTAL)
        requests = int(total[1])
        rate = float(line(text, "Requests/sec:", r"Requests/sec: +(\d{1,12}\.\d\d)")[1])
        transfer = line(text, "Transfer/sec:", r"Transfer/sec: +([\d.]{1,12}[KMGT]?B)")[1]
        bad = optional(text, "Non-2xx", "  Non-2xx", r"  Non-2xx or 3xx responses: (\d{1,15})")
        status = int(bad[1]) if bad else 0
        require(status <= requests, f"'Non-2xx': {status} of {requests} requests")
        errors = _socket_errors(text)
        received, within = _bytes(total[4])
        samples, mean_us = _samples(text)
        percentiles = _percentiles(text, _HEAD) if samples else None
        return Reading(
            seconds=_seconds(requests, rate, total[2], total[3]),
            responses=requests,
            good_at_least=requests - status,
            good_at_most=requests - status,
            statuses={"100-399": requests - status, "400-999": status},
            received_bytes=received,
            byte_error=within,
            errors={"status": status, **errors},
            unanswered=(
                None if errors["timeout"] else errors["connect"] + errors["read"] + errors["write"]
            ),
            percentiles_us=percentiles,
            percentiles_by="wrk2, from when each request was due" if samples else "",
            mean_us=mean_us if samples else None,
            latency_samples=samples or None,
            printed={
                "requests_per_second": rate,
                "transfer_per_second": transfer,
                "read": total[4],
                "printed_time": total[2] + total[3],
                "asked_per_second": float(self.rate),
                **({"uncorrected_p50_us": _sent_median_us(sent, samples)} if sent else {}),
            },
            defects=(
                *(["wrk2:1ms-timer"] if samples else []),
                *(["wrk2:repeated-timeouts"] if errors["timeout"] else []),
            ),
        )


def _bytes(printed: str) -> tuple[int, int]:
    number, unit = re.fullmatch(r"([\d.]+)([KMGT]?B)", printed).groups()  # type: ignore[union-attr]
    size = 1024 ** ("B", "KB", "MB", "GB", "TB").index(unit)
    digits = len(number.partition(".")[2])
    return round(float(number) * size), math.ceil(size / 10**digits / 2)


def _seconds(requests: int, rate: float, printed: str, unit: str) -> float:
    """Return the duration: it is printed to two digits of its unit, and the rate is often finer."""
    seconds, step = float(printed) * _US[unit] / 1e6, 0.01 * _US[unit] / 1e6
    require(seconds > 0, "'requests in': no time")
    if not requests or rate <= 0:
        require(not requests and not rate, f"'Requests/sec:': {rate} for {requests} requests")
        return seconds
    by_rate, rate_step = requests / rate, requests / rate * 0.005 / rate
    sound = abs(seconds - by_rate) <= step + rate_step
    require(sound, f"'Requests/sec:': {rate} is not {requests} requests in {seconds} s")
    return by_rate if rate_step < step else seconds


def _socket_errors(text: str) -> dict[str, int]:
    names = ("connect", "read", "write", "timeout")
    pattern = "  Socket errors: " + ", ".join(rf"{name} (\d{{1,15}})" for name in names)
    match = optional(text, "Socket errors", "  Socket errors", pattern)
    return dict(zip(names, map(int, match.groups()) if match else (0, 0, 0, 0), strict=True))


def _samples(text: str) -> tuple[int, float]:
    """Return how many latencies were recorded, as the spectrum and its foot say, and their mean."""
    foot = line(text, "#[Max", r"#\[Max +=\s+\d+\.\d{3}, Total count +=\s+(\d{1,15})\]")
    mean = line(text, "#[Mean", r"#\[Mean +=\s+(\d{1,12}\.\d{3}|-?nan), StdDeviation .*\]")[1]
    rows = re.findall(f"^{_ROW}$", text, re.MULTILINE)
    samples = int(foot[1])
    if not rows or int(rows[-1].split()[2]) != samples:
        raise ValueError("'Detailed Percentile spectrum': its last row is not the total count")
    return samples, float(mean) * 1000 if samples and "nan" not in mean else 0.0


def _apart(printed: str) -> tuple[str, str]:
    """Return the output without the times from the real sending, and these, if any."""
    parts = printed.split(_RULE)
    if len(parts) != 3:  # noqa: PLR2004 - a rule below each of the two
        return printed, ""
    return f"{parts[0]}{_RULE}{parts[2]}", parts[1]


def _sent_median_us(text: str, samples: int) -> float | None:
    """Return the median of the times from the real sending. Raises ValueError for a hole."""
    require(_samples(text)[0] == samples, f"{_SENT_HEAD!r}: not of {samples} requests")
    return _percentiles(text, _SENT_HEAD)["50"] if samples else None


def _percentiles(text: str, named: str) -> dict[str, float]:
    head = f"  {named}\n"
    require(text.count(head) == 1, f"no line {named!r}")
    rows = text.partition(head)[2].splitlines()[: len(_PERCENTS)]
    percentiles: dict[str, float] = {}
    for number, percent in enumerate(_PERCENTS):
        row = rows[number] if number < len(rows) else ""
        match = re.fullmatch(rf" *{float(percent):.3f}% +{_TIME} ?", row)
        if not match:
            raise ValueError(f"no line of {percent} percent")
        percentiles[percent] = float(match[1]) * _US[match[2]]
    growing(named, percentiles.values())
    return percentiles
