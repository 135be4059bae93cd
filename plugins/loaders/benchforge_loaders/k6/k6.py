"""k6: virtual users in JavaScript, in a closed loop or at a rate of arrivals."""

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AliasPath, ConfigDict, Field, JsonValue, PositiveInt, model_validator

from benchforge.plugin import Command, Duration, Output, Rate, Reading, Request, Target, WrongOption
from benchforge.plugin.load_tools import (
    Amount,
    Count,
    Program,
    Timed,
    ToolJson,
    WholeSeconds,
    agree,
    ended_well,
    growing,
    parsing,
)

SCRIPT, MIX = (Path(__file__).with_name(name) for name in ("k6.js", "mix.js"))
_REASON = re.compile(r'msg="benchforge take: ((?:[^"\\]|\\.)*)" source=console')
# What Python takes for a pattern, and JavaScript for another, or for none.
_PYTHON_ONLY = re.compile(r"\(\?(?![:=!])|\\[AZaNU]|[*+?}]\+|\[\^?\]|\{,")

_PERCENTS = ("50", "66", "75", "80", "90", "95", "98", "99", "99.9", "99.99")
STATS = ("avg", "min", *(f"p({percent})" for percent in _PERCENTS), "max", "count")
"Numbers of a trend that the summary has."
_COUNTER = re.compile(r"benchforge_status_([1-9]\d\d)")
_OF_KIND = re.compile(r"(.*)\{kind:(\d{1,5})\}")


class K6(Program, Timed):
    """k6: each user sends its next request after the last response, or at a rate.

    Good to know:

    - With a rate, k6 drops an arrival that finds no idle user and counts it as
      `dropped_iterations`. Latencies count from the send, so an overloaded server looks as fast as
      it answers. Believe them only if no arrival was dropped.
    - Latencies include lost requests.
    - k6 silently repeats a request whose connection was closed.
    - JavaScript costs CPU time: one core sends about 13 000 requests per second.
    - Of a mix, each iteration makes the next request of the stream, or the next flow with all of
      its requests. Only a flow keeps the cookies of its answers. k6 reports no bytes of a kind.
    - By default k6 sends usage statistics to its makers. benchforge turns that off.
    """

    name: ClassVar[str] = "k6"
    install: ClassVar[str] = "go install go.k6.io/k6@latest, or a package of grafana.com/docs/k6"
    asks_version: ClassVar[str] = "version"
    tells_kinds: ClassVar[bool] = True
    proved: ClassVar[Literal["run", "recordings"]] = "recordings"
    http_version: ClassVar[str | None] = None
    alpn: ClassVar[bool] = True

    users: PositiveInt = 10
    "Number of virtual users. With a rate, their maximum."
    rate: Rate | None = Field(default=None, ge=1)
    "Arrivals per second, a whole number. Default: a closed loop."
    timeout: WholeSeconds = Duration(10)
    "Time limit of one request in whole seconds."
    keep_alive: bool = True
    "Reuse of a connection for the next request."

    @model_validator(mode="after")
    def _whole_rate(self) -> Self:
        if self.rate is not None and not self.rate.is_integer():
            msg = f"k6 takes a whole number of arrivals a second, not {self.rate}"
            raise WrongOption(msg, "rate")
        return self

    def files(self, target: Target) -> Mapping[str, str]:
        settings = {
            **(_request(target) if target.stream is None else self._mix(target)),
            "timeout": f"{self.timeout}s",
            "keep_alive": self.keep_alive,
            "scenario": self._scenario(),
            "stats": STATS,
            "statuses": sorted(HTTPStatus),
        }
        return {f"k6-{target.phase}.json": json.dumps(settings, indent=2) + "\n"}

    def commands(self, target: Target) -> Sequence[Command]:
        environment = {
            "BENCHFORGE_K6": str(target.folder / f"k6-{target.phase}.json"),
            "BENCHFORGE_K6_OUT": str(target.folder / _summary(target)),
        }
        return [
            Command(
                target.programs["k6"],
                *("run", "--quiet", "--no-usage-report", "--no-color", "--address", ""),
                SCRIPT if target.stream is None else MIX,
                environment=environment,
            )
        ]

    def read(self, output: Output) -> Reading:
        ended_well("k6", output)
        name = _summary(output.target)
        with parsing(name, "k6 1.x is known to work"):
            reading = K6Summary.from_json(output.file(name)).reading(output.target.kinds)
        reasons = sorted(set(_REASON.findall(output.stderr)))
        if not reasons:
            return reading
        return reading.model_copy(update={"printed": {**reading.printed, "reasons": reasons}})

    def why_no_kinds(self, requests: Mapping[str, Request]) -> str:
        """Return nothing: an iteration of a user makes the next request of the stream."""
        return ""

    def why_no_flows(self, takes: Sequence[str]) -> str:
        """Return the pattern that JavaScript takes otherwise; empty without one."""
        patterns = [take for take in takes if take.startswith("regex:")]
        wrong = next((pattern for pattern in patterns if _PYTHON_ONLY.search(pattern)), None)
        return "" if wrong is None else f"has patterns of JavaScript, and none such as {wrong!r}"

    def _mix(self, target: Target) -> dict[str, JsonValue]:
        flows = target.flows is not None and target.flows.is_file()
        return {
            "root": target.root,
            "stream": str(target.stream),
            "index": str(target.index),
            "flows": str(target.flows) if flows else None,
            "kinds": list(target.kinds),
            "duration_s": float(self.duration),
        }

    def _scenario(self) -> dict[str, JsonValue]:
        ending = {"duration": f"{self.duration}s", "gracefulStop": f"{self.timeout}s"}
        if self.rate is None:
            return {"executor": "constant-vus", "vus": self.users, **ending}
        return {
            "executor": "constant-arrival-rate",
            "rate": int(self.rate),
            "timeUnit": "1s",
            "preAllocatedVUs": self.users,
            "maxVUs": self.users,
            **ending,
        }


def _request(target: Target) -> dict[str, JsonValue]:
    request = target.request
    return {
        "method": request.method,
        "url": target.url,
        "headers": dict(request.headers),
        "body": request.body,
    }


def _summary(target: Target) -> str:
    return f"k6-{target.phase}-summary.json"


def _path(*steps: str) -> Any:
    """Return the place of a field in the document."""
    return Field(validation_alias=AliasPath(*steps))


class _Counter(ToolJson):
    count: Annotated[Count, _path("values", "count")]
    rate: Annotated[Amount, _path("values", "rate")]


class _Metrics(ToolJson):
    """What it counted, and what our script did: a counter for each status that came."""

    model_config = ConfigDict(extra="allow")

    http_reqs: _Counter
    failed: Annotated[Count, _path("http_req_failed", "values", "passes")]
    fine: Annotated[Count, _path("http_req_failed", "values", "fails")]
    times: Annotated[dict[str, Amount], _path("http_req_duration", "values")]
    status: Annotated[_Counter, Field(alias="benchforge_status")]
    data_received: _Counter | None = None
    "Bytes read; k6 does not report them of a kind."
    dropped: Annotated[_Counter | None, Field(alias="dropped_iterations")] = None
    taken: Annotated[_Counter | None, Field(alias="benchforge_taken")] = None
    again: Annotated[_Counter | None, Field(alias="benchforge_again")] = None
    untaken: Annotated[_Counter | None, Field(alias="benchforge_take")] = None
    "Answers without a value that a later step of a flow takes."
    unreached: Annotated[_Counter | None, Field(alias="benchforge_not_reached")] = None
    bodies: Annotated[_Counter | None, Field(alias="benchforge_body")] = None
    "Lengths of bodies by their Content-Length."

    @property
    def statuses(self) -> dict[str, int]:
        """How many responses had each status; those that HTTP does not name are missing."""
        extra = {_COUNTER.fullmatch(name): item for name, item in (self.model_extra or {}).items()}
        counts = {
            match[1]: _Counter.model_validate(item).count for match, item in extra.items() if match
        }
        return {status: count for status, count in counts.items() if count}

    def of_kinds(self, kinds: Sequence[str]) -> list[Self]:
        """Return the metrics of each kind. Raises ValueError where they are not whole."""
        named: list[dict[str, object]] = [{} for _ in kinds]
        for name, metric in (self.model_extra or {}).items():
            if (match := _OF_KIND.fullmatch(name)) and int(match[2]) < len(kinds):
                named[int(match[2])][match[1]] = metric
        for kind, metrics in zip(kinds, named, strict=True):
            if absent := {"http_reqs", "benchforge_not_reached"} - set(metrics):
                raise ValueError(f"metrics: no {min(absent)} of kind {kind!r}")
        return [type(self).model_validate(metrics) for metrics in named]


class K6Summary(ToolJson):
    """The document, to which our script of a mix adds which kinds are later steps of flows."""

    ran_ms: Annotated[float, _path("state", "testRunDurationMs"), Field(gt=0, le=1e12)]
    metrics: _Metrics
    later: tuple[bool, ...] = ()

    def reading(self, kinds: Sequence[str]) -> Reading:
        """Return it as a reading. Raises ValueError where counts do not agree."""
        seconds = self.ran_ms / 1000
        reading_ = _reading(self.metrics, seconds)
        if not kinds:
            return reading_
        taken, again = self.metrics.taken, self.metrics.again
        if taken is None or again is None:
            raise ValueError("metrics: no benchforge_taken")
        update: dict[str, object] = {
            "kinds": self._of_kinds(kinds, seconds),
            "records_taken": (taken.count,),
            "stream_began_again": again.count,
        }
        return reading_.model_copy(update=update)

    def _of_kinds(self, kinds: Sequence[str], seconds: float) -> dict[str, Reading]:
        metrics = self.metrics.of_kinds(kinds)
        total = sum(metric.http_reqs.count for metric in metrics)
        if total != (requests := self.metrics.http_reqs.count):
            raise ValueError(f"http_reqs: {requests}, but {total} of the kinds")
        readings: dict[str, Reading] = {}
        is_later = self.later or (False,) * len(kinds)
        for kind, of_kind, later in zip(kinds, metrics, is_later, strict=True):
            count = of_kind.unreached.count if later and of_kind.unreached else None
            readings[kind] = _reading(of_kind, seconds).model_copy(update={"not_reached": count})
        return readings


def _reading(metrics: _Metrics, seconds: float) -> Reading:
    requests, bad = metrics.http_reqs.count, metrics.status.count
    failed, fine = metrics.failed, metrics.fine
    lost, untaken = failed - bad, metrics.untaken.count if metrics.untaken else 0
    if failed + fine != requests or lost < 0 or untaken > fine:
        raise ValueError(
            f"http_reqs: {requests} are not {fine} good ones, {bad} with a bad status and {lost} "
            "lost ones"
        )
    # Each response has a status that the script counts, unless it lacks a value that is taken.
    responses, statuses = requests - lost - untaken, metrics.statuses
    if (counted := sum(statuses.values())) != responses:
        raise ValueError(f"benchforge_status: {counted} of {responses} responses have one")
    agree("http_reqs", requests, seconds, metrics.http_reqs.rate)
    times = metrics.times
    percentiles = _percentiles(times, requests) if requests else None
    dropped = metrics.dropped.count if metrics.dropped else 0
    defects = {
        # Whether a request was sent again is not told: it may have been.
        "k6:silent-retries": True,
        "k6:dropped-iterations": dropped > 0,
        "k6:failures-in-latency": lost > 0,
    }
    return Reading(
        seconds=seconds,
        responses=responses,
        good_at_least=fine - untaken,
        good_at_most=fine - untaken,
        statuses=statuses,
        errors={"status": bad, "lost": lost, **({"take": untaken} if untaken else {})},
        unanswered=lost + untaken,
        received_bytes=metrics.data_received.count if metrics.data_received else None,
        promised_bytes=metrics.bodies.count if metrics.bodies else None,
        percentiles_us=percentiles,
        percentiles_by="k6 http_req_duration" if requests else "",
        mean_us=times["avg"] * 1000 if requests else None,
        latency_samples=requests or None,
        printed={
            "requests_per_second": metrics.http_reqs.rate,
            "dropped_iterations": dropped,
            "http_req_failed": failed,
        },
        defects=tuple(name for name, touches in defects.items() if touches),
    )


def _percentiles(times: Mapping[str, float], requests: int) -> dict[str, float]:
    if absent := [name for name in STATS if name not in times]:
        raise ValueError(f"http_req_duration: no {absent[0]}")
    if times["count"] != requests:
        raise ValueError(f"http_req_duration: {times['count']:,.0f} times of {requests} requests")
    names = {"0": "min", **{percent: f"p({percent})" for percent in _PERCENTS}, "100": "max"}
    percentiles = {percent: times[name] * 1000 for percent, name in names.items()}
    growing("http_req_duration", percentiles.values())
    return percentiles
