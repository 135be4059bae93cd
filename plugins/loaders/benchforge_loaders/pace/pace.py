"""pace, the load tool that comes with benchforge: a closed loop, or a rate that is kept."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, PositiveInt, TypeAdapter, ValidationError, model_validator

from benchforge.plugin import (
    Bodies,
    Command,
    Duration,
    Histogram,
    Load,
    Loader,
    Need,
    Output,
    Rate,
    Reading,
    Request,
    RunsPython,
    SampledBody,
    Schedule,
    Series,
    Share,
    Site,
    StageReading,
    Target,
    WrongOption,
    readable,
)
from benchforge.plugin.load_tools import counted, ended_well, parsing, require
from benchforge_loaders.pace.report import KindCounts, PaceReport, StageCounts

HINT = 'such as stages = ["0..200/s in 10s", "200/s for 30s"]'
_STAGE = re.compile(r"(?:(\S+?)\s*\.\.\s*)?(\S+)\s+(for|in)\s+(\S+)")
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{1,9})?")
_RATE, _DURATION = TypeAdapter(Rate), TypeAdapter(Duration)


class Stage(NamedTuple):
    """Requests per second at its begin and at its end, and its length in seconds."""

    begin: float
    end: float
    seconds: float

    @property
    def word(self) -> str:
        """The stage as the driver takes it."""
        return ":".join(map(repr, self))

    @property
    def due(self) -> float:
        """Number of requests that are due in it."""
        return (self.begin + self.end) / 2 * self.seconds


def stages_of(texts: Iterable[str]) -> tuple[Stage, ...]:
    """Return the stages that texts describe. Raises WrongOption for a text that is no stage."""
    return tuple(map(_stage, texts))


def mean_rate(stages: Sequence[Stage]) -> float:
    """Return the requests per second over all stages."""
    return sum(stage.due for stage in stages) / sum(stage.seconds for stage in stages)


def readings(
    texts: Sequence[str], counted: Sequence[Sequence[StageCounts]], seconds: float
) -> tuple[StageReading, ...]:
    """Return what each stage measured, of a load that took so many seconds."""
    left_s, measured = seconds, []
    for text, stage, parts in zip(texts, stages_of(texts), counted, strict=True):
        each, stage_parts = stage.seconds / len(parts), []
        for counts in parts:
            lasted = min(each, max(left_s, 0.0))
            left_s -= lasted
            reading = StageReading(
                stage=text,
                seconds=lasted,
                errors=counts.failed,
                unfinished=counts.in_flight,
                latency=counts.durations.histogram,
            )
            stage_parts.append(reading)
        measured.append(stage_parts[0] if len(parts) == 1 else _whole(text, stage_parts))
    return tuple(measured)


def _whole(text: str, parts: Sequence[StageReading]) -> StageReading:
    return StageReading(
        stage=text,
        seconds=sum(part.seconds for part in parts),
        errors=sum(part.errors for part in parts),
        unfinished=sum(part.unfinished for part in parts),
        latency=Histogram.added(part.latency for part in parts),
        parts=tuple(parts),
    )


def _stage(text: str) -> Stage:
    match = _STAGE.fullmatch(text.strip())
    if not match:
        raise WrongOption(f"{text!r} is not a stage", "stages", hint=HINT)
    first, last, word, length = match.groups()
    if (word == "in") != (first is not None):
        rule = "a ramp takes its time `in`" if first else "one rate lasts `for` a time"
        raise WrongOption(f"{text!r}: {rule}", "stages", hint=HINT)
    try:
        end, seconds = _rate(last), _DURATION.validate_python(length)
        begin = end if first is None else _rate(first)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise WrongOption(f"{text!r}: {message}", "stages", hint=HINT) from None
    if seconds <= 0 or min(begin, end) < 0:
        raise WrongOption(f"{text!r}: a stage takes time, and has a rate", "stages", hint=HINT)
    return Stage(float(begin), float(end), float(seconds))


def _rate(text: str) -> Rate:
    return _RATE.validate_python(float(text) if _NUMBER.fullmatch(text) else text)


PROGRAM = Path(__file__).parents[1] / "drivers/pace_main.py"
# More than a process can make; what is due and not sent is kept in memory.
HIGHEST_RATE = 200_000


class Pace(RunsPython, Loader):
    """pace sends requests in a closed loop, or with `rate` at times independent of answers.

    Good to know:

    - Latency counts from the time at which a request was due, so it includes waiting for a
      connection, for the schedule or for a server that stalls. `service` counts from the real
      send.
    - The time to open a connection is part of the latency.
    - At the deadline the load ends. Requests in flight are kept with their age.
    - A request without an answer within `timeout` of its due time, sent or not, is an error.
    - Each request without a complete response is in one class: connect, tls, reset, closed (before
      a byte arrived), cut (inside the response), malformed, extra (bytes after the response) or
      timeout. `status` counts complete responses with another status than the suite expects,
      `length` those with a body of another length.
    - pace never retries. In a closed loop against a server that no longer answers, pauses of up to
      100 ms keep refusals from being a load themselves.
    - pace uses up to one CPU per process: near the time of a request it does not sleep.
    """

    name: ClassVar[str] = "pace"
    ends_on_time: ClassVar[bool] = True
    tells_lateness: ClassVar[bool] = True
    tells_kinds: ClassVar[bool] = True

    connections: PositiveInt = 64
    "Maximum number of connections. In a closed loop, each has one request in flight."
    processes: PositiveInt = 1
    "Number of processes. They share connections, rate and requests."
    duration: Duration = Duration(10)
    "Length of the load. The load ends after it, even if requests are in flight."
    requests: PositiveInt | None = None
    "Number of requests after which the load ends, at the latest after `duration`."
    rate: Rate | None = None
    "Number of requests per second. Default: a closed loop."
    stages: tuple[str, ...] = ()
    """Rates over time, instead of `rate` and `duration`, one after the other: "200/s for 30s", or \
"0..200/s in 10s" for a ramp. The report shows each stage apart."""
    arrivals: Literal["constant", "poisson"] = "poisson"
    """Distribution of arrivals at a `rate`: evenly spaced, or random like those of independent \
users."""
    seed: int = Field(default=1, ge=0)
    "Seed of random arrivals. The same seed makes the same arrivals."
    sample: Share | None = None
    """Share of the responses, such as "1%", whose bodies are compared with the answers before and \
after the load. Default: none."""
    sample_seed: int = Field(default=1, ge=0)
    "Seed of the random choice of these responses."
    think: Duration = Duration(0)
    "Pause of a closed loop between a response and the connection's next request."
    timeout: Duration = Duration(30)
    "Time limit of one request, from its intended start."
    keep_alive: bool = True
    """Reuse of connections. If false, each request says Connection: close and has its own \
connection."""
    verify: bool = True
    "Verification of the certificate of an HTTPS server."

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.connections < self.processes:
            msg = f"{self.processes} processes need as many connections, not {self.connections}"
            raise WrongOption(msg, "processes", "connections")
        for option in ("duration", "timeout"):
            if getattr(self, option) <= 0:
                raise WrongOption(f"{option} must be more than 0", option)
        if self.sample is None and "sample_seed" in self.model_fields_set:
            raise WrongOption("sample_seed without a sample", "sample_seed", "sample")
        self._check_stages()
        highest = HIGHEST_RATE * self.processes
        if self.rate is not None and not 0 < self.rate <= highest:
            msg = f"a rate must be more than 0, and at most {HIGHEST_RATE}/s for each process"
            raise WrongOption(msg, "rate", "processes")
        if self.rate is not None and self.think:
            msg = "think applies to a closed loop only: a rate has a schedule"
            raise WrongOption(msg, "think", "rate", hint="leave one of them out")
        fields_set = sorted(self.model_fields_set & {"arrivals", "seed"})
        if self.rate is None and not self.stages and fields_set:
            raise WrongOption(f"{' and '.join(fields_set)} without a rate", *fields_set, "rate")
        return self

    def _check_stages(self) -> None:
        if not self.stages:
            return
        for option in ("rate", "duration", "requests", "think"):
            if option in self.model_fields_set:
                msg = f"{option} and stages exclude each other"
                hint = f"leave {option} out: each stage says its rate and its time"
                raise WrongOption(msg, option, "stages", hint=hint)
        stages = stages_of(self.stages)
        if not mean_rate(stages) > 0:
            raise WrongOption("no stage has a rate", "stages", hint=HINT)
        for stage in stages:
            if max(stage.begin, stage.end) > HIGHEST_RATE * self.processes:
                msg = f"a rate is at most {HIGHEST_RATE}/s for each process"
                raise WrongOption(msg, "stages", "processes")

    def needs(self) -> Iterable[Need]:
        """Return nothing: Python is there."""
        return ()

    def version(self, site: Site) -> Command:
        return Command(site.python, PROGRAM, "--version")

    def files(self, target: Target) -> Mapping[str, str]:
        """Return the request in a file: other users can read arguments. A mix has its own file."""
        return {} if target.stream is not None else {**super().files(target), **target.head}

    def commands(self, target: Target) -> Sequence[Command]:
        return [
            Command(
                *(target.python, PROGRAM),
                *("--connections", self.connections, "--processes", self.processes),
                *("--duration", Duration(self.declared_s()), "--timeout", self.timeout),
                *self._pace(),
                *([] if self.keep_alive else ["--close"]),
                *([] if target.ca_file is None else ["--ca-file", target.ca_file]),
                *([] if self.verify else ["--no-verify"]),
                *([] if target.turns is None else ["--turns", target.turns]),
                *_requests(target),
                target.root,
            )
        ]

    def read(self, output: Output) -> Reading:
        ended_well("pace", output)
        with parsing("pace"):
            report = PaceReport.from_text(output.stdout)
        rate, kinds = self._rate(), output.target.kinds
        with parsing("pace", hint=""):
            require(report.rate == rate, f"its rate is {report.rate}, asked was {rate}")
            printed, wanted = len(report.stages), len(self.stages)
            require(printed == wanted, f"it tells {printed} stages, and {wanted} were asked")
            printed, sent = len(report.kinds), len(kinds)
            require(printed == sent, f"it tells {printed} kinds, and {sent} were sent")
        reading = self._reading(report, output.target.request)
        by_kind = {kind: _of_kind(report, number) for number, kind in enumerate(kinds)}
        stages = readings(self.stages, report.stages, report.seconds)
        return reading.model_copy(update={"kinds": by_kind, "stages": stages})

    def why_no_kinds(self, requests: Mapping[str, Request]) -> str:
        return "sends one request alone with its `sample`" if self.sample is not None else ""

    def why_no_flows(self, takes: Sequence[str]) -> str:
        return ""

    def why_not_in_turns(self) -> str:
        """Return why it cannot take turns: only one process in a closed loop can."""
        others = {"rate": None, "stages": (), "requests": None, "think": 0, "processes": 1}
        changed = [name for name, usual in others.items() if getattr(self, name) != usual]
        return f"with {' and '.join(changed)} pace cannot take turns" if changed else ""

    def declared_s(self) -> float:
        if self.stages:
            return sum(stage.seconds for stage in stages_of(self.stages))
        return float(self.duration)

    def _rate(self) -> float | None:
        if self.stages:
            return mean_rate(stages_of(self.stages))
        return None if self.rate is None else float(self.rate)

    def load(self) -> Load:
        update: dict[str, object] = {"processes": self.processes, "protocol": "HTTP/1.1"}
        if self.stages:
            update |= {"rate": self._rate(), "stages": f"stages: {readable.listed(self.stages)}"}
        return super().load().model_copy(update=update)

    def for_warm_up(self, seconds: float) -> "Pace":
        """Return the same load for so many seconds; before stages, at their mean rate."""
        update: dict[str, object] = {"duration": Duration(max(0.001, seconds)), "requests": None}
        if self.stages:
            update |= {"stages": (), "rate": Rate(self._rate() or 0)}
        return self.model_copy(update=update)

    def divided(self, index: int, places: int) -> "Pace | None":
        each, remainder = divmod(self.connections, places)
        requests, over = divmod(self.requests or 0, places)
        if remainder or over or each < self.processes or self.stages:
            return None
        update = {
            "connections": each,
            "requests": requests or None,
            "rate": None if self.rate is None else Rate(self.rate / places),
            "seed": self.seed + index,
            "sample_seed": self.sample_seed + index,
        }
        return self.model_copy(update=update)

    def _pace(self) -> Sequence[object]:
        counted = () if self.requests is None else ("--requests", self.requests)
        if self.sample is not None:
            chosen = "--sample", repr(float(self.sample)), "--sample-seed", self.sample_seed
            counted = (*counted, *chosen)
        if (mean := self._rate()) is None:
            return (*counted, *(("--think", self.think) if self.think else ()))
        rate = ("--rate", repr(mean), "--arrivals", self.arrivals, "--seed", self.seed)
        if self.stages:
            words = ",".join(stage.word for stage in stages_of(self.stages))
            counted = (*counted, "--stages", words)
        return (*counted, *rate)

    def _reading(self, report: PaceReport, request: Request) -> Reading:
        by_status = {int(status): each.histogram for status, each in report.latency.items()}
        lengths = report.body_lengths if request.method != "HEAD" else []
        return _counted(
            report,
            report,
            report.bodies if request.method != "HEAD" else (),
            sampled=tuple(
                SampledBody(status=status, length=length, sha256=digest, responses=n, begin=begin)
                for status, length, digest, n, begin in report.sampled
            ),
            sampled_others=report.sampled_others,
            latency_by_status=_by_class(by_status),
            service_time=report.service.histogram,
            phases={"connect": report.connect.histogram, "first_byte": report.first_byte.histogram},
            series=Series(
                bin_s=report.bin_ns / 1e9,
                completed=tuple(report.completed_by_bin),
                errors=tuple(report.failed_by_bin),
            ),
            schedule=_schedule(report),
            connections=report.connections,
            document_bytes=lengths[0] if len(lengths) == 1 else None,
            server_software=report.server,
            records_taken=tuple(report.taken),
            stream_began_again=report.began_again,
            printed=report.claims(),
        )


def _requests(target: Target) -> Sequence[object]:
    if target.stream is not None:
        return ("--stream", target.stream, "--kinds", len(target.kinds))
    body = ("--body", target.body_file) if target.body_file else ()
    return ("--head", target.head_file, *body)


def _of_kind(report: PaceReport, number: int) -> Reading:
    kind = report.kinds[number]
    return _counted(report, kind, kind.bodies, not_reached=report.not_reached.get(str(number)))


def _counted(
    report: PaceReport, counts: KindCounts, bodies: Iterable[tuple[int, int, int]], **measured: Any
) -> Reading:
    """Return the reading of all requests, or of those of a kind."""
    return counted(
        report.seconds,
        {status: each.count for status, each in counts.latency.items()},
        counts.errors.by_class,
        received_bytes=counts.received_bytes,
        bodies=tuple(Bodies(status=code, length=size, responses=n) for code, size, n in bodies),
        latency=Histogram.added(each.histogram for each in counts.latency.values()),
        in_flight=counts.in_flight.histogram,
        censored=counts.errors.timeout,
        censored_from_us=report.timeout_us,
        **measured,
    )


def _by_class(by_status: Mapping[int, Histogram]) -> dict[str, Histogram]:
    groups: dict[str, list[Histogram]] = {}
    for status in sorted(by_status):
        groups.setdefault(f"{status // 100}xx", []).append(by_status[status])
    return {name: Histogram.added(group) for name, group in groups.items()}


def _schedule(report: PaceReport) -> Schedule | None:
    if report.rate is None:
        return None
    return Schedule(
        rate=report.rate,
        intended=report.started,
        sent=report.sent,
        lateness=report.lateness.histogram,
        queueing=report.waited.histogram,
    )
