"""The base of clients: a library, its driver, and the end of the load."""

from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, NonNegativeInt, PositiveInt, model_validator

from benchforge.plugin import (
    Bodies,
    Client,
    Command,
    Duration,
    Histogram,
    Load,
    Need,
    Output,
    Reading,
    Request,
    RunsPython,
    Site,
    Target,
    WrongOption,
)
from benchforge.plugin.load_tools import BAD, Amount, Count, ToolJson, ended_well, parsing

Status = Annotated[int, Field(ge=100, le=599)]
# Plain programs in a folder of their own: a part's file is named like the library that it must not
# hide.
DRIVERS = Path(__file__).parent / "drivers"
INSTALL = "pip install '.[clients]', in a clone of benchforge"
_LENGTHS = (
    "a body of another length than the first one's may be an error; "
    "with variable_length = true it is none"
)
Concurrency = Annotated[int, Field(ge=1, le=1000)]


class WarmUp(ToolJson):
    """The requests that a driver made before its load."""

    model_config = ConfigDict(extra="forbid")

    requests: Count
    responses: Count
    connections: Count | None


class ClientReport(ToolJson):
    """What a driver counted; latencies in microseconds, each with its count."""

    model_config = ConfigDict(extra="forbid", strict=False)

    protocol: Literal[1]
    library: str
    version: str
    "The library's version; empty for the standard library, which has Python's."
    python: str
    mode: str
    way: str = ""
    "The way in which the driver made requests; empty for a library with one way."
    requests: Count
    seconds: Annotated[float, Field(gt=0)]
    "The length of the load."
    user_s: Amount
    "CPU time of the process during the load; the kernel estimates how user and system share it."
    system_s: Amount
    import_s: Amount
    set_up_s: Amount
    "Time from the start of the driver to the first request, including imports."
    statuses: dict[Status, Count]
    errors: dict[str, Count]
    "The number of requests without a complete response, by class of exception."
    complaints: dict[str, str]
    "The text of the first exception of each class."
    surfaced: Count
    "The number of errors that reached the calling code."
    first_length: Count | None
    "Body length of the first response with a status below 400."
    other_lengths: Count
    "Such responses with a body of another length."
    bodies: list[tuple[Status, Count, Annotated[int, Field(ge=1)]]] = Field(default_factory=list)
    "Status, length and number of responses of the most frequent lengths."
    body_bytes: Count
    connections: Count | None
    "The number of connections that opened during the load."
    connections_why: str
    warm_up: WarmUp
    latency_us: dict[Count, Annotated[int, Field(ge=1)]]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if sum(self.latency_us.values()) != self.responses:
            raise ValueError(f"not as many latencies as the {self.responses} responses")
        if self.responses + self.failed != self.requests:
            raise ValueError(f"responses and errors do not make {self.requests} requests")
        if self.surfaced > self.failed:
            raise ValueError(f"{self.surfaced} errors surfaced of {self.failed}")
        if (self.first_length is None) != (self.good == 0) or self.other_lengths > self.good:
            raise ValueError(f"the lengths are not those of {self.good} good responses")
        for status in {status for status, _, _ in self.bodies}:
            held = sum(count for code, _, count in self.bodies if code == status)
            if held > self.statuses.get(status, 0):
                raise ValueError(f"bodies: {held} of status {status} are more than its responses")
        if (self.connections is None) != bool(self.connections_why):
            raise ValueError("connections are known, or it is said why they are not")
        return self

    @property
    def responses(self) -> int:
        """Complete responses of any status."""
        return sum(self.statuses.values())

    @property
    def good(self) -> int:
        """Complete responses with a status below 400."""
        return sum(count for status, count in self.statuses.items() if status < BAD)

    @property
    def failed(self) -> int:
        """Requests without a complete response."""
        return sum(self.errors.values())


class Library(RunsPython, Client, ABC):
    """A closed loop: each request follows the one before it, once its body is read.

    Timed is each call, from before it until the body is read, by `perf_counter`; the load is timed
    as a whole, without the import of the library and what is set up once. An exception is an error
    of its class; a response of 400 or more is an error (status), and one whose body is not as long
    as the first one's may be one (length). Redirects are not followed: each is a response. When a
    server ends a kept connection without a word, some libraries ask again in secret (aiohttp,
    geventhttpclient, httplib2, libcurl): it is one request here, and two to the server.

    The split of CPU time into user and system is the kernel's estimate, by clock ticks; their sum
    is exact. Connections are those that were really opened, counted where the library connects.
    """

    modules: ClassVar[tuple[str, ...]] = ()
    "The modules that the driver imports, other than the standard library."
    keeping_modes: ClassVar[tuple[str, ...] | None] = None
    "The modes that use a connection for several requests; None if all do."

    requests: PositiveInt | None = None
    "Total number of requests. Default: as many as `duration` allows."
    duration: Duration | None = None
    "Length of the load, instead of a number of requests. Default: 10s if neither is given."
    concurrency: Concurrency = 1
    "Number of concurrent loops, each with its own connection."
    warm_up: NonNegativeInt = 0
    """Number of requests before the load, from the same process and over the same connections. \
They are reported separately."""
    delay: Duration = Duration(0)
    """Pause after each request. Its total is subtracted from the time, as study PC does: delay x \
requests."""
    timeout: Duration = Duration(30)
    "Time limit of one request, as the library counts it."
    verify: bool = True
    """Verification of certificates; the trial's own certificate is trusted. The studies do not \
verify."""
    variable_length: bool = False
    "Permission for responses to differ in length without being errors."
    decode_json: bool = False
    "Decoding of each body as JSON, as part of the request."

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.duration is not None and self.requests is not None:
            message = "a duration and a number of requests"
            raise WrongOption(message, "requests", "duration", hint="leave one out")
        if self.duration is not None and not self.duration:
            raise WrongOption("a load of 0 s makes no request", "duration")
        if not self.timeout:
            raise WrongOption("a timeout of 0 s answers nothing", "timeout")
        if self.delay and (self.concurrency > 1 or self.duration is not None):
            message = "a delay needs a number of requests and a concurrency of 1"
            raise WrongOption(message, "delay", "concurrency", "duration")
        return self

    def chosen_mode(self) -> str | None:
        """Return the driver's mode; None for a driver that has one only."""
        mode: str | None = getattr(self, "mode", None)
        return mode

    def way(self) -> str | None:
        """Return the way in which it is to make its requests; None where no driver tells it."""
        return None

    def connections_kept(self) -> bool | None:
        """Return whether a connection is for several requests; None where it depends."""
        return self.keeping_modes is None or self.chosen_mode() in self.keeping_modes

    def at_once(self) -> int:
        """Return how many requests it makes at a time, each on a connection."""
        return self.concurrency

    def imports(self) -> tuple[str, ...]:
        return self.modules

    def words(self) -> Sequence[object]:
        """Return the driver's arguments that are the library's own."""
        return ()

    def lengths_vary(self) -> bool:
        """Whether a body of another length is none of the errors."""
        return self.variable_length

    def needs(self) -> Iterable[Need]:
        return [Need(module, INSTALL, "module") for module in self.imports()]

    def version(self, site: Site) -> Command:
        if not self.modules:
            return Command(site.python, "--version")
        library = self.modules[0]
        code = f"from importlib.metadata import version; print({library!r}, version({library!r}))"
        return Command(site.python, "-c", code)

    def fingerprint(self, suite_folder: Path) -> str:
        """Return a digest of the driver: another one makes another case."""
        digest = sha256()
        for name in (self._driver, "protocol.py"):
            digest.update((DRIVERS / name).read_bytes())
        return digest.hexdigest()

    def files(self, target: Target) -> Mapping[str, str]:
        """Return the request in a file: other users can read arguments."""
        return {**super().files(target), **target.head}

    def commands(self, target: Target) -> Sequence[Command]:
        mode = self.chosen_mode()
        return [
            Command(
                *(target.python, DRIVERS / self._driver, "--url", target.root),
                *("--head", target.head_file),
                *(("--body", target.body_file) if target.body_file else ()),
                *(("--mode", mode) if mode else ()),
                *self._end(),
                *("--concurrency", self.concurrency, "--timeout", self.timeout),
                *(("--delay", self.delay) if self.delay else ()),
                *(("--warm-up", self.warm_up) if self.warm_up else ()),
                *(() if self.verify else ("--no-verify",)),
                *(("--ca-file", target.ca_file) if self.verify and target.ca_file else ()),
                *(("--decode-json",) if self.decode_json else ()),
                *(("--turns", target.turns) if target.turns else ()),
                *self.words(),
            )
        ]

    def read(self, output: Output) -> Reading:
        ended_well(self.name, output)
        with parsing(self.name, "see what the driver printed beside the trial"):
            report = ClientReport.from_json(output.stdout)
            self._check(report, in_turns=output.target.turns is not None)
        return self._reading(report, output)

    def why_not_in_turns(self) -> str:
        """Return why it cannot take turns: one request after the other can."""
        usual = {"concurrency": 1, "delay": 0}
        changed = [name for name, value in usual.items() if getattr(self, name) != value]
        return f"with {' and '.join(changed)} {self.name} cannot take turns" if changed else ""

    def declared_s(self) -> float:
        if self.requests is None:
            return float(self._seconds)
        # 100 requests/s are an estimate.
        return (self.requests + self.warm_up) * (0.01 + self.delay)

    def load(self) -> Load:
        update: dict[str, object] = dict.fromkeys(("connections", "concurrency"), self.at_once())
        update |= {"keep_alive": self.connections_kept(), "processes": 1, "method": self.way()}
        return super().load().model_copy(update=update)

    def for_warm_up(self, seconds: float) -> Self:
        update = {"duration": Duration(seconds), "requests": None, "warm_up": 0}
        return self.model_copy(update=update)

    @property
    def _driver(self) -> str:
        return f"{self.name}_main.py"

    @property
    def _seconds(self) -> Duration:
        return self.duration if self.duration is not None else Duration(10)

    def _end(self) -> Sequence[object]:
        return ("--requests", self.requests) if self.requests else ("--seconds", self._seconds)

    def _check(self, report: ClientReport, *, in_turns: bool) -> None:
        if (mode := self.chosen_mode()) not in {None, report.mode}:
            raise ValueError(f"mode: {report.mode!r}, asked was {mode!r}")
        if self.requests not in {None, report.requests} and not in_turns:
            raise ValueError(f"requests: {report.requests}, asked were {self.requests}")
        if report.warm_up.requests != self.warm_up:
            raise ValueError(f"warm_up: {report.warm_up.requests}, asked were {self.warm_up}")
        if report.seconds <= self.delay * report.requests:
            raise ValueError(f"seconds: {report.seconds} are not more than the delays")

    def _reading(self, report: ClientReport, output: Output) -> Reading:
        doubtful = 0 if self.lengths_vary() else report.other_lengths
        return Reading(
            seconds=report.seconds - self.delay * report.requests,
            responses=report.responses,
            good_at_least=report.good - doubtful,
            good_at_most=report.good,
            doubt=_LENGTHS if doubtful else "",
            statuses={str(status): count for status, count in report.statuses.items()},
            errors={"status": report.responses - report.good, "length": doubtful, **report.errors},
            unanswered=report.failed,
            bodies=() if self.lengths_vary() else _bodies(report, output.target.request),
            body_bytes=None if self.lengths_vary() else report.body_bytes,
            other_lengths=doubtful,
            latency=Histogram.of(report.latency_us),
            connections=report.connections,
            method=report.way or None,
            document_bytes=None if self.lengths_vary() else report.first_length,
            cpu_user_s=report.user_s,
            cpu_system_s=report.system_s,
            printed=self._claims(report, output),
        )

    def _claims(self, report: ClientReport, output: Output) -> dict[str, JsonValue]:
        done, more = output.finished[0], dict[str, JsonValue]()
        if self.delay:
            more["seconds_with_delays"] = report.seconds
        if self.warm_up:
            more["warm_up_responses"] = report.warm_up.responses
            more["warm_up_connections"] = report.warm_up.connections
        if report.connections is None:
            more["connections"] = report.connections_why
        if report.failed:
            more["errors_surfaced"] = report.surfaced
            more["errors_hidden"] = report.failed - report.surfaced
            more["complaints"] = dict(report.complaints)
        return {
            "library": f"{report.library} {report.version}".strip(),
            "python": report.python,
            "statuses": {str(status): count for status, count in report.statuses.items()},
            "body_bytes": report.body_bytes,
            "import_s": report.import_s,
            "set_up_s": report.set_up_s,
            "process_s": done.seconds,
            "process_user_s": done.user_s,
            "process_system_s": done.system_s,
            **more,
        }


def _bodies(report: ClientReport, request: Request) -> tuple[Bodies, ...]:
    if request.method == "HEAD":
        return ()
    return tuple(Bodies(status=code, length=size, responses=n) for code, size, n in report.bodies)
