"""pace, the load tool that comes with benchforge: a closed loop, or a rate that is kept."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import (
    Command,
    Duration,
    Histogram,
    Load,
    Loader,
    Need,
    Output,
    OutputDamaged,
    Rate,
    Reading,
    Request,
    RunsPython,
    Schedule,
    Series,
    Site,
    Target,
    WrongOption,
    hookimpl,
)
from benchforge_loaders.pace_report import Report

PROGRAM = Path(__file__).with_name("drivers") / "pace_main.py"
BAD = 4
# More than a process can make; what is due and not sent is kept in memory.
HIGHEST_RATE = 200_000


class Pace(RunsPython, Loader):
    """pace makes requests in a closed loop, or with `rate` at their times, whatever is answered.

    Good to know: latency counts from when a request was meant to be sent, be it that it waits for
    a connection, for the schedule or for a server that stands still; `service` beside it counts
    from the real send. A new connection's time is part of the latency. At the deadline the load
    ends; what is in flight then is kept with its age. A request that is not answered within
    `timeout` of its intended start, sent or not, is an error. Each request without a complete
    response stands in one class: connect, tls, reset, closed (before a byte came), cut (inside the
    response), malformed, extra (bytes behind the response) or timeout; `status` counts complete
    responses of 400 or more. Nothing is tried again. In a closed loop against a server that answers
    nothing any more, pauses of up to 100 ms keep refusals from being a load of their own. It takes
    up to one CPU per process: near the time of a request it does not sleep.
    """

    name: ClassVar[str] = "pace"
    tells_lateness: ClassVar[bool] = True

    connections: PositiveInt = 64
    "At most; in a closed loop each has one request under way."
    processes: PositiveInt = 1
    "Connections, rate and requests are divided among them."
    duration: Duration = Duration(10)
    "The load ends then, whatever is answered."
    requests: PositiveInt | None = None
    "The load ends when so many have ended, at `duration` at the latest."
    rate: Rate | None = None
    "Requests per second; a closed loop without it."
    arrivals: Literal["constant", "poisson"] = "poisson"
    "With `rate`: evenly spaced, or at random as independent users come."
    seed: int = Field(default=1, ge=0)
    "Of the random arrivals: the same seed makes the same ones."
    think: Duration = Duration(0)
    "In a closed loop: from a response to the connection's next request."
    timeout: Duration = Duration(30)
    "From the intended start of a request."
    keep_alive: bool = True
    "Otherwise each request says Connection: close and has a connection of its own."
    verify: bool = True
    "Whether the certificate of an https server is checked."

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.connections < self.processes:
            msg = f"{self.processes} processes need as many connections, not {self.connections}"
            raise WrongOption(msg, "processes", "connections")
        for option in ("duration", "timeout"):
            if getattr(self, option) <= 0:
                raise WrongOption(f"{option} must be more than 0", option)
        highest = HIGHEST_RATE * self.processes
        if self.rate is not None and not 0 < self.rate <= highest:
            msg = f"a rate must be more than 0, and at most {HIGHEST_RATE}/s for each process"
            raise WrongOption(msg, "rate", "processes")
        if self.rate is not None and self.think:
            msg = "think is for a closed loop: with a rate the schedule says when"
            raise WrongOption(msg, "think", "rate", hint="leave one of them out")
        if self.rate is None and (given := sorted(self.model_fields_set & {"arrivals", "seed"})):
            raise WrongOption(f"{' and '.join(given)} without a rate", *given, "rate")
        return self

    def needs(self) -> Iterable[Need]:
        """Return nothing: Python is there."""
        return ()

    def version(self, site: Site) -> Command:
        """Ask pace: it tells its format and the interpreter."""
        return Command(site.python, PROGRAM, "--version")

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command. Raises BenchforgeError for headers of several lines."""
        return [
            Command(
                *(target.python, PROGRAM),
                *("--connections", self.connections, "--processes", self.processes),
                *("--duration", self.duration, "--timeout", self.timeout),
                *self._pace(),
                *([] if self.keep_alive else ["--close"]),
                *([] if target.ca_file is None else ["--ca-file", target.ca_file]),
                *([] if self.verify else ["--no-verify"]),
                *_request(target),
                target.url,
            )
        ]

    def read(self, output: Output) -> Reading:
        """Return what pace printed.

        Raises OutputDamaged when pace failed, when its document is not whole or of another
        version, and when its counts do not agree with one another.
        """
        if output.code:
            raise OutputDamaged(f"pace: {_complaint(output)}")
        try:
            report = Report.from_text(output.stdout)
        except ValueError as error:
            raise OutputDamaged(
                f"pace: {error}", "see what pace printed beside the trial"
            ) from None
        if report.rate != (None if self.rate is None else float(self.rate)):
            raise OutputDamaged(f"pace: its rate is {report.rate}, asked was {self.rate}")
        return self._reading(report, output.target.request)

    def declared_s(self) -> float:
        """Return the duration, in seconds."""
        return float(self.duration)

    def load(self) -> Load:
        """Return what it is told to do."""
        update = {"processes": self.processes, "protocol": "HTTP/1.1"}
        return super().load().model_copy(update=update)

    def for_warm_up(self, seconds: float) -> "Pace":
        """Return the same load for so many seconds."""
        duration = Duration(max(0.001, seconds))
        return self.model_copy(update={"duration": duration, "requests": None})

    def _pace(self) -> Sequence[object]:
        counted = () if self.requests is None else ("--requests", self.requests)
        if self.rate is None:
            return (*counted, *(("--think", self.think) if self.think else ()))
        rate = ("--rate", repr(float(self.rate)), "--arrivals", self.arrivals, "--seed", self.seed)
        return (*counted, *rate)

    def _reading(self, report: Report, request: Request) -> Reading:
        by_status = {int(status): each.histogram for status, each in report.latency.items()}
        bad = sum(each.count for status, each in by_status.items() if status // 100 >= BAD)
        good = report.responses - bad
        lengths = report.body_lengths if request.method != "HEAD" else []
        return Reading(
            seconds=report.seconds,
            responses=report.responses,
            good_at_least=good,
            good_at_most=good,
            errors={"status": bad, **report.errors.model_dump()},
            unanswered=report.failed,
            received_bytes=report.received_bytes,
            latency=Histogram.added(by_status.values()),
            latency_by_status=_by_class(by_status),
            service=report.service.histogram,
            phases={
                "connect": report.connect.histogram,
                "first_byte": report.first_byte.histogram,
            },
            in_flight=report.in_flight.histogram,
            series=Series(
                bin_s=report.bin_ns / 1e9,
                completed=tuple(report.completed_by_bin),
                errors=tuple(report.failed_by_bin),
            ),
            schedule=_schedule(report),
            censored=report.errors.timeout,
            censored_from_us=report.timeout_us,
            connections=report.connections,
            document_bytes=lengths[0] if len(lengths) == 1 else None,
            server_software=report.server,
            claims=report.claims(),
        )


def _by_class(by_status: Mapping[int, Histogram]) -> dict[str, Histogram]:
    classes = sorted({status // 100 for status in by_status})
    return {
        f"{one}xx": Histogram.added(
            each for status, each in by_status.items() if status // 100 == one
        )
        for one in classes
    }


def _schedule(report: Report) -> Schedule | None:
    if report.rate is None:
        return None
    return Schedule(
        rate=report.rate,
        intended=report.started,
        sent=report.sent,
        lateness=report.lateness.histogram,
        waited=report.waited.histogram,
    )


def _request(target: Target) -> Sequence[object]:
    headers = [f"--header={name}: {value}" for name, value in target.request.headers.items()]
    body = ("--body", target.body_file) if target.body_file else ()
    return ("--method", target.request.method, *headers, *body)


def _complaint(output: Output) -> str:
    if output.code < 0:
        return f"ended by signal {-output.code}"
    said = output.stderr.strip().splitlines()
    return said[-1].removeprefix("pace: ") if said else f"exit code {output.code}"


@hookimpl
def benchforge_parts() -> list[type[Loader]]:
    """Return pace."""
    return [Pace]
