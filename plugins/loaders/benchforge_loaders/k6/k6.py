"""k6: virtual users in JavaScript, in a closed loop or at a rate of arrivals."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, PositiveInt, model_validator

from benchforge.plugin import (
    Command,
    Duration,
    Load,
    Need,
    Output,
    Rate,
    Reading,
    Site,
    Target,
    WrongOption,
    hookimpl,
    readable,
)
from benchforge_loaders.printed import Amount, Count, ToolJson, agree, growing
from benchforge_loaders.timed import Timed, WholeSeconds, ended_well, parsing

SCRIPT = Path(__file__).with_name("k6.js")
_PERCENTS = ("50", "66", "75", "80", "90", "95", "98", "99", "99.9", "99.99")
_STATS = ("avg", "min", *(f"p({percent})" for percent in _PERCENTS), "max", "count")


_COUNTER = re.compile(r"benchforge_status_([1-9]\d\d)")


class _Counted(ToolJson):
    count: Count
    rate: Amount


class _Counter(ToolJson):
    values: _Counted


class _Shares(ToolJson):
    passes: Count
    fails: Count


class _Share(ToolJson):
    values: _Shares


class _Trend(ToolJson):
    values: dict[str, Amount]


class _Metrics(ToolJson):
    """What it counted, and what our script did: a counter for each status that came."""

    model_config = ConfigDict(extra="allow")

    http_reqs: _Counter
    http_req_failed: _Share
    http_req_duration: _Trend
    status: Annotated[_Counter, Field(alias="benchforge_status")]
    data_received: _Counter
    dropped: Annotated[_Counter | None, Field(alias="dropped_iterations")] = None

    @property
    def statuses(self) -> dict[str, int]:
        """How many responses had each status; those that HTTP does not name are missing."""
        counters = {
            _COUNTER.fullmatch(name): counter for name, counter in (self.model_extra or {}).items()
        }
        return {
            match[1]: _Counter.model_validate(counter).values.count
            for match, counter in counters.items()
            if match
        }


class _State(ToolJson):
    ran_ms: Annotated[float, Field(alias="testRunDurationMs", gt=0, le=1e12)]


class _Printed(ToolJson):
    state: _State
    metrics: _Metrics


class K6(Timed):
    """k6: each user sends its next request after the last response, or at a rate.

    Good to know:

    - With a rate, k6 drops an arrival that finds no idle user and counts it as
      `dropped_iterations`. Latencies count from the send, so an overloaded server looks as fast as
      it answers. Believe them only if no arrival was dropped.
    - Latencies include lost requests.
    - k6 silently repeats a request whose connection was closed.
    - JavaScript costs CPU time: one core sends about 13 000 requests per second.
    - By default k6 sends usage statistics to its makers. benchforge turns that off.
    """

    name: ClassVar[str] = "k6"
    proved: ClassVar[Literal["run", "recordings"]] = "recordings"

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

    def needs(self) -> Iterable[Need]:
        """Return k6."""
        return [Need("k6", "go install go.k6.io/k6@latest, or a package of grafana.com/docs/k6")]

    def version(self, site: Site) -> Command:
        """Return `k6 version`."""
        return Command(site.programs["k6"], "version")

    def load(self) -> Load:
        """Return what it is told to do; over TLS it may speak HTTP/2."""
        return super().load().model_copy(update={"protocol": None})

    def files(self, target: Target) -> Mapping[str, str]:
        """Return what the script is told."""
        settings = {
            "method": target.request.method,
            "url": target.url,
            "headers": dict(target.request.headers),
            "body": target.request.body,
            "timeout": f"{self.timeout}s",
            "keep_alive": self.keep_alive,
            "scenario": self._scenario(),
            "stats": _STATS,
            "statuses": sorted(HTTPStatus),
        }
        return {f"k6-{target.phase}.json": json.dumps(settings, indent=2) + "\n"}

    def commands(self, target: Target) -> Sequence[Command]:
        """Return one command."""
        environment = {
            "BENCHFORGE_K6": str(target.folder / f"k6-{target.phase}.json"),
            "BENCHFORGE_K6_OUT": str(target.folder / _summary(target)),
        }
        return [
            Command(
                target.programs["k6"],
                *("run", "--quiet", "--no-usage-report", "--no-color", "--address", ""),
                SCRIPT,
                environment=environment,
            )
        ]

    def read(self, output: Output) -> Reading:
        """Return the summary that the script wrote.

        Raises OutputDamaged when k6 failed, and when the summary is not whole.
        """
        ended_well("k6", output)
        name = _summary(output.target)
        with parsing(name, "k6 1.x is known to work"):
            return _reading(_Printed.from_json(output.file(name)))

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


def _summary(target: Target) -> str:
    return f"k6-{target.phase}-summary.json"


def _reading(printed: _Printed) -> Reading:
    metrics, seconds = printed.metrics, printed.state.ran_ms / 1000
    requests, bad = metrics.http_reqs.values.count, metrics.status.values.count
    failed, fine = metrics.http_req_failed.values.passes, metrics.http_req_failed.values.fails
    lost = failed - bad
    if failed + fine != requests or lost < 0:
        raise ValueError(
            f"http_reqs: {requests} are not {fine} good ones, {bad} with a bad status and {lost} "
            "lost ones"
        )
    # Each response has a status that the script counts.
    counted = sum(metrics.statuses.values())
    if counted != requests - lost:
        raise ValueError(f"benchforge_status: {counted} of {requests - lost} responses have one")
    agree("http_reqs", requests, seconds, metrics.http_reqs.values.rate)
    times = metrics.http_req_duration.values
    percentiles = _percentiles(times, requests) if requests else None
    dropped = metrics.dropped.values.count if metrics.dropped else 0
    defects = {
        # Whether a request was sent again is not told: it may have been.
        "k6:silent-retries": True,
        "k6:dropped-iterations": dropped > 0,
        "k6:failures-in-latency": lost > 0,
    }
    return Reading(
        seconds=seconds,
        responses=requests - lost,
        good_at_least=fine,
        good_at_most=fine,
        statuses=metrics.statuses,
        errors={"status": bad, "lost": lost},
        unanswered=lost,
        received_bytes=metrics.data_received.values.count,
        percentiles_us=percentiles,
        percentiles_by="k6 http_req_duration" if requests else "",
        mean_us=times["avg"] * 1000 if requests else None,
        latency_samples=requests or None,
        printed={
            "requests_per_second": metrics.http_reqs.values.rate,
            "dropped_iterations": dropped,
            "http_req_failed": failed,
        },
        defects=tuple(name for name, touches in defects.items() if touches),
    )


def _percentiles(times: Mapping[str, float], requests: int) -> dict[str, float]:
    if absent := [name for name in _STATS if name not in times]:
        raise ValueError(f"http_req_duration: no {absent[0]}")
    if times["count"] != requests:
        raise ValueError(
            f"http_req_duration: {readable.exact(times['count'])} times of {requests} requests"
        )
    names = {"0": "min", **{percent: f"p({percent})" for percent in _PERCENTS}, "100": "max"}
    percentiles = {percent: times[name] * 1000 for percent, name in names.items()}
    growing("http_req_duration", percentiles.values())
    return percentiles


@hookimpl
def benchforge_parts() -> list[type[Timed]]:
    """Return k6."""
    return [K6]
