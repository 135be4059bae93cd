"""weighttp: a closed loop over a number of requests. 0.4 prints text, 0.5 JSON."""

import math
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from pydantic import PositiveInt, model_validator

from benchforge.plugin import (
    Command,
    Duration,
    Load,
    Output,
    Reading,
    Target,
    WrongOption,
)
from benchforge.plugin.load_tools import (
    Program,
    WholeSeconds,
    ended_well,
    headers,
    only_get,
    parsing,
)
from benchforge_loaders.weighttp.report import WeighttpReport

# For estimates only: how long a number of requests takes.
REQUESTS_PER_SECOND = 1000
# A time limit alone is not enough for weighttp 0.5.
BOUND = 10_000_000


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
        """Return what weighttp printed.

        Raises OutputDamaged when it failed, and when what it printed is not whole or is not what
        was asked.
        """
        ended_well("weighttp", output)
        with parsing("weighttp"):
            report = WeighttpReport.from_text(output.stdout)
            self._check(report)
        return report.reading()

    def declared_s(self) -> float:
        """Return the duration in seconds; a rough guess for a number of requests."""
        if self.duration is not None:
            return float(self.duration)
        return self._requests / REQUESTS_PER_SECOND

    def load(self) -> Load:
        """Return what it is told to do."""
        return super().load().model_copy(update={"protocol": "HTTP/1.1"})

    def for_warm_up(self, seconds: float) -> Self:
        """Return the same load for so many seconds; a guess where the load is a number."""
        if self.duration is not None:
            return self.model_copy(update={"duration": Duration(max(1, math.ceil(seconds)))})
        requests = max(self.connections, math.ceil(seconds * REQUESTS_PER_SECOND))
        return self.model_copy(update={"requests": requests})

    def _check(self, report: WeighttpReport) -> None:
        if self.duration is None and report.done != self._requests:
            raise ValueError(f"{report.done} requests done, asked were {self._requests}")

    @property
    def _requests(self) -> int:
        if self.requests is not None:
            return self.requests
        return 10_000 if self.duration is None else BOUND
