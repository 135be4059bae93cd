"""wrk: a closed loop over a fixed number of connections, read through a Lua hook of our own."""

import signal
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, JsonValue, PositiveInt, model_validator

from benchforge.plugin import (
    BenchforgeError,
    Command,
    Duration,
    Histogram,
    Load,
    Output,
    OutputDamaged,
    Reading,
    Request,
    Target,
    WrongOption,
)
from benchforge.plugin.load_tools import (
    Amount,
    Count,
    Program,
    Timed,
    ToolJson,
    WholeSeconds,
    lasted,
    parsing,
)

HOOK, STREAM = (Path(__file__).with_name(name) for name in ("wrk.lua", "stream.lua"))

Positive = Annotated[int, Field(ge=1, le=2**53)]
PRINTED_PERCENTILES = (50, 75, 90, 99)
FROZEN_S = 600
"Time limit of a response where wrk is frozen, and its clock runs on, in seconds."


def stream_environment(target: Target, threads: int) -> dict[str, str]:
    """Return what the script reads: where the requests are, and how many threads share them."""
    return {
        "BENCHFORGE_WRK_HOOK": str(HOOK),
        "BENCHFORGE_WRK_STREAM": str(target.stream),
        "BENCHFORGE_WRK_INDEX": str(target.index),
        "BENCHFORGE_WRK_THREADS": str(threads),
        "BENCHFORGE_WRK_TAKEN": str(target.folder / _taken_file(target)),
    }


def taken_of(output: Output) -> tuple[tuple[int, ...], int]:
    """Return how many records each thread took, and how often one began again.

    Without a mix there are none. Raises OutputDamaged where the script's file is not whole.
    """
    if not output.target.kinds:
        return (), 0
    with parsing(name := _taken_file(output.target)):
        rows = [tuple(map(int, line.split())) for line in output.file(name).splitlines()]
        if not rows or any(len(row) != len(("taken", "again")) or min(row) < 0 for row in rows):
            raise ValueError("not two counts for each thread")
        return tuple(taken for taken, _ in rows), sum(again for _, again in rows)


def _taken_file(target: Target) -> str:
    return f"wrk-{target.phase}-taken"


class WrkCounts(ToolJson):
    """What wrk counted; latencies in microseconds, in order, each with its count."""

    model_config = ConfigDict(extra="forbid")

    duration_us: Positive
    requests: Count
    bytes: Count
    connect: Count
    read: Count
    write: Count
    status: Count
    timeout: Count
    mean_us: Amount
    stdev_us: Amount
    latency_us: list[tuple[Count, Positive]] = Field(default_factory=list)
    error: str = ""
    "Reason why the hook could not read the latencies."

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the file. Raises ValueError that says where and what, when it is not whole."""
        recorded = cls.from_json(text)
        if fault := recorded.error or recorded.fault():
            raise ValueError(fault)
        return recorded

    def fault(self) -> str | None:
        """Return what cannot be, in one line; None when all is well."""
        if "latency_us" not in self.model_fields_set:
            return "latency_us: missing"
        if any(value >= next_one for (value, _), (next_one, _) in pairwise(self.latency_us)):
            return "latency_us: not in order"
        if max(self.status, self.timeout) > self.requests:
            return f"more bad responses ({self.status}, {self.timeout}) than {self.requests}"
        return None


class Wrk(Program, Timed):
    """wrk 4: each connection sends its next request after the last response.

    Latencies come from a Lua hook, to the microsecond, without the samples that wrk makes up. The
    latencies that wrk prints are kept as claims. Errors by class:

    - status: complete responses with a status of 400 or above. wrk does not distinguish lower
      statuses: such responses are good if all of them, by their bytes, are as long as right
      answers;
    - timeout: complete responses later than `timeout`. They count as responses, but are not in the
      histogram (censored). A request that is never answered is not counted at all;
    - connect, read, write: errors of the socket. A server that silently closes after a response
      causes a read error each time, in addition to the complete response.

    wrk does not check certificates over HTTPS. The probes before and after the load do.
    """

    name: ClassVar[str] = "wrk"
    install: ClassVar[str] = "apt-get install wrk (Debian, Ubuntu), or build github.com/wg/wrk"
    debian: ClassVar[str] = "wrk"
    asks_version: ClassVar[str] = "-v"
    ends_on_time: ClassVar[bool] = True
    interrupted_by: ClassVar[signal.Signals | None] = signal.SIGINT

    connections: PositiveInt = 64
    "Number of concurrent connections. Each thread has connections // threads of them."
    threads: PositiveInt = 1
    "Number of threads of the tool."
    timeout: WholeSeconds = Duration(2)
    """Time limit of a response in whole seconds. wrk counts later responses, but does not record \
their latency."""

    @model_validator(mode="after")
    def _a_connection_for_each_thread(self) -> Self:
        if self.connections < self.threads:
            msg = f"{self.threads} threads need as many connections, not {self.connections}"
            raise WrongOption(msg, "threads", "connections")
        return self

    def files(self, target: Target) -> Mapping[str, str]:
        """Return the request in a file: other users can read arguments. A mix has its own file."""
        return {} if target.stream is not None else {**super().files(target), **target.head}

    def divided(self, index: int, places: int) -> "Wrk | None":
        each, odd = divmod(self.connections, places)
        return None if odd or each < self.threads else self.model_copy(update={"connections": each})

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. Raises BenchforgeError for HEAD, which wrk cannot read."""
        if target.request.method == "HEAD":
            message = "wrk: a HEAD request: wrk waits for the body that never comes"
            raise BenchforgeError(message, "use GET, or ab")
        return [
            Command(
                target.programs["wrk"],
                *(f"-t{self.threads}", f"-c{self.connections}", f"-d{self.duration}s"),
                *("--timeout", f"{self._timeout_s(target)}s", "--latency"),
                *("-s", HOOK if target.stream is None else STREAM, target.root),
                environment=self._environment(target),
            )
        ]

    def read(self, output: Output) -> Reading:
        if output.code:
            raise OutputDamaged(f"wrk: {_complaint(output)}")
        recorded = _recorded(output)
        corrected = dict(recorded.latency_us)
        timeout_us = self._timeout_s(output.target) * 1_000_000
        raw = self._raw(recorded, corrected, timeout_us)
        if output.target.turns is None:
            lasted("wrk", recorded.duration_us / 1e6, self.duration)
        synthetic = sum(corrected.values()) - sum(raw.values())
        good = recorded.requests - recorded.status
        taken, began_again = taken_of(output)
        return Reading(
            seconds=recorded.duration_us / 1e6,
            responses=recorded.requests,
            good_at_least=good,
            good_at_most=good,
            statuses={"100-399": good, "400-999": recorded.status},
            errors={
                "status": recorded.status,
                "connect": recorded.connect,
                "read": recorded.read,
                "write": recorded.write,
                "timeout": recorded.timeout,
            },
            unanswered=recorded.connect + recorded.read + recorded.write,
            received_bytes=recorded.bytes,
            latency=Histogram.of(raw),
            censored=recorded.timeout,
            censored_from_us=timeout_us,
            test_connections=1,
            records_taken=taken,
            stream_began_again=began_again,
            printed=_claims(recorded, corrected, synthetic),
            defects=("wrk:synthetic-samples",) if synthetic else (),
        )

    def why_no_kinds(self, requests: Mapping[str, Request]) -> str:
        return ""

    def load(self) -> Load:
        """Return the load; wrk always keeps connections, the same number for each thread."""
        each = self.connections // self.threads * self.threads
        update = {"connections": each, "concurrency": each, "keep_alive": True}
        return super().load().model_copy(update=update)

    def _environment(self, target: Target) -> dict[str, str]:
        environment = {"BENCHFORGE_WRK_OUT": str(target.folder / _hook_file(target))}
        if target.stream is not None:
            return environment | stream_environment(target, self.threads)
        environment["BENCHFORGE_WRK_HEAD"] = str(target.head_file)
        if target.body_file is not None:
            environment["BENCHFORGE_WRK_BODY"] = str(target.body_file)
        return environment

    def _timeout_s(self, target: Target) -> int:
        """Return the time limit of a response; frozen with its server, wrk has none."""
        return int(self.timeout) if target.turns is None else FROZEN_S

    def _raw(self, counts: WrkCounts, samples: Mapping[int, int], limit_us: int) -> dict[int, int]:
        if samples and max(samples) > limit_us:
            raise OutputDamaged(f"wrk: a latency of {max(samples)} us is beyond its timeout")
        expected = expected_interval_us(counts.duration_us, counts.requests, self.connections)
        try:
            raw = dict(samples) if expected is None else without_synthetic(samples, expected)
        except ValueError as error:
            raise OutputDamaged(f"wrk: its correction cannot be undone: {error}") from None
        if sum(raw.values()) + counts.timeout != counts.requests:
            raise OutputDamaged(
                f"wrk: {sum(raw.values())} latencies and {counts.timeout} late responses do not "
                f"make {counts.requests} requests",
                "was the clock set, or did the server answer more than it was asked?",
            )
        return raw


def _recorded(output: Output) -> WrkCounts:
    name = _hook_file(output.target)
    hint = "the hook inside wrk writes it at the end; wrk 4.0 to 4.2 are known to work"
    with parsing(name, hint):
        return WrkCounts.from_text(output.file(name))


def _hook_file(target: Target) -> str:
    return f"wrk-{target.phase}.json"


def _complaint(output: Output) -> str:
    if output.code < 0:
        return f"ended by signal {-output.code}"
    lines = (output.stderr + "\n" + output.stdout).strip().splitlines()
    return lines[0] if lines else f"exit code {output.code}"


def _claims(counts: WrkCounts, samples: Mapping[int, int], synthetic: int) -> dict[str, JsonValue]:
    percentiles: dict[str, JsonValue] = {
        f"latency_p{percent}_us": printed_percentile_us(samples, percent)
        for percent in PRINTED_PERCENTILES
    }
    return {
        "requests_per_second": counts.requests / counts.duration_us * 1e6,
        "latency_mean_us": counts.mean_us,
        "latency_stdev_us": counts.stdev_us,
        "latency_max_us": max(samples, default=0),
        **percentiles,
        "synthetic_samples": synthetic,
    }


def expected_interval_us(duration_us: int, requests: int, connections: int) -> int | None:
    """Return wrk's E in microseconds; None where wrk has too few requests to correct anything."""
    each = requests // connections
    return duration_us // each if each else None


def without_synthetic(corrected: Mapping[int, int], expected_us: int) -> dict[int, int]:
    """Return the counts by microsecond as they were before wrk's correction.

    From the top down, because what stands at the top was added by nothing above it. Raises
    ValueError when the counts cannot have come from that correction.
    """
    if expected_us < 1:
        raise ValueError("requests cannot follow one another within less than a microsecond")
    raw = dict(corrected)
    for value in sorted(corrected, reverse=True):
        count = raw[value]
        made_up = value - expected_us
        while count and made_up > expected_us:
            measured = raw.get(made_up, 0) - count
            if measured < 0:
                msg = f"the {count} requests of {value} us left no trace at {made_up} us"
                raise ValueError(msg)
            raw[made_up] = measured
            made_up -= expected_us
    return {value: count for value, count in raw.items() if count}


def printed_percentile_us(corrected: Mapping[int, int], percent: float) -> int:
    """Return the percentile that wrk prints, 0 when it has no samples."""
    rank = int(percent / 100 * sum(corrected.values())) + 1
    counted = 0
    for value, count in sorted(corrected.items()):
        counted += count
        if counted >= rank:
            return value
    return 0
