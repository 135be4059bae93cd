"""k6: virtual users in JavaScript, in a closed loop or at a rate of arrivals."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, JsonValue, PositiveInt, model_validator

from benchforge.plugin import (
    Command,
    Duration,
    Load,
    Need,
    Output,
    OutputDamaged,
    Rate,
    Reading,
    Site,
    Target,
    WrongOption,
    hookimpl,
)
from benchforge_loaders.printed import Amount, Count, Printed, agree, growing
from benchforge_loaders.timed import Timed, WholeSeconds, ended_well

SCRIPT = Path(__file__).with_name("k6.js")
_PERCENTS = ("50", "66", "75", "80", "90", "95", "98", "99", "99.9", "99.99")
_STATS = ("avg", "min", *(f"p({percent})" for percent in _PERCENTS), "max", "count")


class _Counted(Printed):
    count: Count
    rate: Amount


class _Counter(Printed):
    values: _Counted


class _Shares(Printed):
    passes: Count
    fails: Count


class _Share(Printed):
    values: _Shares


class _Trend(Printed):
    values: dict[str, Amount]


class _Metrics(Printed):
    http_reqs: _Counter
    http_req_failed: _Share
    http_req_duration: _Trend
    status: Annotated[_Counter, Field(alias="benchforge_status")]
    data_received: _Counter
    dropped: Annotated[_Counter | None, Field(alias="dropped_iterations")] = None


class _State(Printed):
    ran_ms: Annotated[float, Field(alias="testRunDurationMs", gt=0, le=1e12)]


class _Printed(Printed):
    state: _State
    metrics: _Metrics


class K6(Timed):
    """k6: each user sends its next request when the last one is answered, or at a rate.

    Good to know:

    - With a rate, an arrival that finds no idle user is dropped and counted as
      `dropped_iterations`; latencies count from the sending, so that an overloaded server looks as
      fast as it answers. Believe them where nothing was dropped.
    - Lost requests are among its latencies.
    - A request whose connection was closed under it is sent again, and nobody is told.
    - JavaScript costs CPU: some 13 000 requests a second of one core.
    - It sends statistics of use to its makers by itself: that is switched off here.
    """

    name: ClassVar[str] = "k6"
    proved: ClassVar[Literal["run", "recordings"]] = "recordings"

    users: PositiveInt = 10
    "With a rate: as many at most."
    rate: Rate | None = Field(default=None, ge=1)
    "Arrivals a second, a whole number; as fast as it goes without it."
    timeout: WholeSeconds = Duration(10)
    "Whole seconds for one request."
    keep_alive: bool = True
    "Whether a connection is used for the next request."

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
        told = {
            "method": target.request.method,
            "url": target.url,
            "headers": dict(target.request.headers),
            "body": target.request.body,
            "timeout": f"{self.timeout}s",
            "keep_alive": self.keep_alive,
            "scenario": self._scenario(),
            "stats": _STATS,
        }
        return {f"k6-{target.phase}.json": json.dumps(told, indent=2) + "\n"}

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
        try:
            return _reading(_Printed.from_json(output.file(name)))
        except ValueError as error:
            raise OutputDamaged(f"{name}: {error}", "k6 1.x is known to work") from None

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
        errors={"status": bad, "lost": lost},
        unanswered=lost,
        received_bytes=metrics.data_received.values.count,
        percentiles_us=percentiles,
        percentiles_by="k6 http_req_duration" if requests else "",
        mean_us=times["avg"] * 1000 if requests else None,
        latency_samples=requests or None,
        claims={
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
        raise ValueError(f"http_req_duration: {times['count']:g} times of {requests} requests")
    names = {"0": "min", **{percent: f"p({percent})" for percent in _PERCENTS}, "100": "max"}
    found = {percent: times[name] * 1000 for percent, name in names.items()}
    growing("http_req_duration", found.values())
    return found


@hookimpl
def benchforge_parts() -> list[type[Timed]]:
    """Return k6."""
    return [K6]
