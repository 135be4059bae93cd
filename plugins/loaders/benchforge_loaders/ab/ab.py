"""ab, ApacheBench: a closed loop in one thread that speaks HTTP/1.0."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self

from pydantic import PositiveInt, field_validator, model_validator

from benchforge.plugin import (
    Command,
    Duration,
    Load,
    Loader,
    Need,
    Output,
    OutputDamaged,
    Reading,
    Request,
    Site,
    Target,
    WrongOption,
    hookimpl,
)
from benchforge_loaders.ab_counts import connections, doubt, errors, good_bounds, unanswered
from benchforge_loaders.ab_report import Report, percentiles_us

DEFAULT_S = 10
# -t alone means 50 000 requests at most, and ab would stop there.
BOUND = 10_000_000
# For an estimate only: how long a number of requests takes.
REQUESTS_PER_SECOND = 1000
# ab rounds to whole milliseconds in its tables.
ROUNDED_US = 501
NOTHING_TOLD = "ab stops at once and reports nothing"


class Ab(Loader):
    """ab 2.3: each connection sends its next request when the last one is answered.

    Traps of ab, and what becomes of them here:

    - It speaks HTTP/1.0. A server that does not answer `Connection: keep-alive` with a length
      closes after each response, whatever -k asked: see the line `Keep-Alive requests`, from which
      `connections` is counted. A server that leaves the connection open without saying so, or
      answers in chunks, makes ab wait until `timeout` and fail.
    - Its errors overlap: never add them. `status` (Non-2xx, redirects too) is counted when the
      header comes, `length` when a body is not as long as the first one's, which on a page of
      varying length says nothing (see `variable_length`).
    - A body cut short, or a reply without a byte, is a complete request to ab, and no error when
      it is as long as the first one. `document_bytes` is what ab took as right. When no byte came
      at all, no response is counted here, and all requests stand in the class `empty`.
    - A reset, a refusal or an answer that does not come ends ab without a report.
    - It gives the mean of its times in whole milliseconds, and `Time per request` is no mean of
      what was measured, but connections x time / requests: both are claims only.
    - Over https it checks no certificate: the questions before and after the load do.
    """

    name: ClassVar[str] = "ab"

    connections: PositiveInt = 10
    "That are open at once."
    duration: Duration | None = None
    "Whole seconds; 10 when no number of requests is given."
    requests: PositiveInt | None = None
    "Instead of a duration."
    keep_alive: bool = True
    "Whether a connection is used for the next request."
    timeout: Duration = Duration(30)
    "Whole seconds to wait for an answer; then ab fails."
    variable_length: bool = False
    "Whether responses may differ in length without being errors."

    @field_validator("duration", "timeout")
    @classmethod
    def _whole_seconds(cls, value: Duration | None) -> Duration | None:
        if value is not None and (value < 1 or not value.is_integer()):
            msg = f"ab takes whole seconds, one at least, not {value}s"
            raise ValueError(msg)
        return value

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.duration is not None and self.requests is not None:
            msg = "a duration and a number of requests"
            raise WrongOption(msg, "requests", "duration", hint="leave one out")
        if self.requests is not None and self.requests < self.connections:
            msg = f"{self.connections} connections need as many requests, not {self.requests}"
            raise WrongOption(msg, "connections", "requests")
        return self

    def needs(self) -> Iterable[Need]:
        """Return ab."""
        return [Need("ab", debian="apache2-utils")]

    def version(self, site: Site) -> Command:
        """Return `ab -V`: the version is on its first line."""
        return Command(site.programs["ab"], "-V")

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. -n stands after -t, which would set it back."""
        percentiles = target.folder / _percentiles_file(target)
        return [
            Command(
                target.programs["ab"],
                "-q",
                *(["-k"] if self.keep_alive else []),
                *(["-l"] if self.variable_length else []),
                *("-s", self.timeout, "-e", percentiles),
                *self._end(),
                *("-c", self.connections),
                *_request(target),
                target.url,
            )
        ]

    def read(self, output: Output) -> Reading:
        """Return what ab reported.

        Raises OutputDamaged when ab failed, and when its report or its file of percentiles is not
        whole or does not agree with itself or with what was asked.
        """
        if output.code:
            raise OutputDamaged(f"ab: {self._failure(output)}")
        name = _percentiles_file(output.target)
        try:
            report = Report.from_text(output.stdout)
            self._check(report)
        except ValueError as error:
            hint = "see what ab printed beside the trial"
            if "completed no request" in str(error) and self.keep_alive:
                # ab asks in HTTP/1.0: a server may keep the connection open and not say so.
                hint += (
                    "; or try keep_alive = false: the server may not announce HTTP/1.0 keep-alive"
                )
            raise OutputDamaged(f"ab: {error}", hint) from None
        try:
            percentiles = percentiles_us(output.file(name), report.complete)
        except ValueError as error:
            raise OutputDamaged(f"{name}: {error}") from None
        if abs(percentiles["100"] - report.longest_ms * 1000) > ROUNDED_US:
            raise OutputDamaged(f"{name}: its longest request is not that of the report")
        return self._reading(report, percentiles)

    def declared_s(self) -> float:
        """Return the duration in seconds; a rough guess for a number of requests."""
        if self.requests is None:
            return float(self._seconds)
        return self.requests / REQUESTS_PER_SECOND

    def load(self) -> Load:
        """Return what it is told to do, in its one thread."""
        return super().load().model_copy(update={"processes": 1, "protocol": "HTTP/1.0"})

    def for_warm_up(self, seconds: float) -> "Ab":
        """Return the same load for so many seconds, rounded up to whole ones."""
        duration = Duration(max(1, math.ceil(seconds)))
        return self.model_copy(update={"duration": duration, "requests": None})

    @property
    def _seconds(self) -> Duration:
        return self.duration if self.duration is not None else Duration(DEFAULT_S)

    def _end(self) -> Sequence[object]:
        if self.requests is not None:
            return ("-n", self.requests)
        return ("-t", self._seconds, "-n", BOUND)

    def _check(self, report: Report) -> None:
        if report.concurrency != self.connections:
            msg = f"'Concurrency Level': {report.concurrency}, asked were {self.connections}"
            raise ValueError(msg)
        if (report.kept is not None) != self.keep_alive:
            msg = f"{'no ' if self.keep_alive else 'a '}line 'Keep-Alive requests'"
            raise ValueError(msg)
        if report.complete > (self.requests or BOUND) or (report.kept or 0) > report.complete:
            msg = f"'Complete requests': {report.complete} cannot be"
            raise ValueError(msg)

    def _reading(self, report: Report, percentiles: Mapping[str, float]) -> Reading:
        answered = report.transferred > 0
        good_at_least, good_at_most = good_bounds(report)
        by_time = self.requests is None and report.complete < BOUND
        return Reading(
            seconds=report.seconds,
            responses=report.complete if answered else 0,
            good_at_least=good_at_least,
            good_at_most=good_at_most,
            doubt=doubt(report) if good_at_least < good_at_most else "",
            errors=errors(report),
            overlapping=sum(count > 0 for count in errors(report).values()) > 1,
            unanswered=unanswered(report),
            received_bytes=report.transferred,
            percentiles_us=dict(percentiles) if answered else None,
            percentiles_by="ab -e: steps of 1 %" if answered else "",
            latency_samples=report.complete if answered else None,
            connections=connections(report, by_time=by_time),
            document_bytes=report.document_bytes,
            server_software=report.software or None,
            claims=dict(report.claims),
        )

    def _failure(self, output: Output) -> str:
        said = output.stderr.strip().splitlines() or [f"exit code {output.code}"]
        total = re.search(r"Total of (\d+) requests completed", output.stdout + output.stderr)
        after = f" after {total[1] if total else 0} requests"
        if output.code < 0:
            return f"ended by signal {-output.code}"
        return {
            22: said[0],
            104: f"the server reset a connection{after}: {NOTHING_TOLD}",
            111: f"connection refused{after}: {NOTHING_TOLD}",
            119: f"no answer within {self.timeout} s{after}: {NOTHING_TOLD}",
        }.get(output.code, said[-1])


def _percentiles_file(target: Target) -> str:
    return f"percentiles-{target.phase}.csv"


def _request(target: Target) -> Sequence[object]:
    headers = dict(target.request.headers)
    if target.body_file is None:
        return (*_method(target.request), *_headers(headers))
    named = next((name for name in headers if name.lower() == "content-type"), None)
    kind = headers.pop(named) if named else "text/plain"
    body = ("-p", target.body_file, "-T", kind)
    return (*body, *_method(target.request), *_headers(headers))


def _method(request: Request) -> Sequence[str]:
    if request.method == "HEAD":
        return ("-i",)
    # -p alone means POST; -m after it names another.
    meant = "GET" if request.body is None else "POST"
    return () if request.method == meant else ("-m", request.method)


def _headers(headers: Mapping[str, str]) -> Sequence[str]:
    return [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]


@hookimpl
def benchforge_parts() -> list[type[Loader]]:
    """Return ab."""
    return [Ab]
