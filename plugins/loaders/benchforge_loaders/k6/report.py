"""The summary that k6 writes at its end: counters and trends, also of each kind of a mix."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import ConfigDict, Field

from benchforge.plugin import Reading, readable
from benchforge.plugin.load_tools import Amount, Count, ToolJson, agree, growing

_PERCENTS = ("50", "66", "75", "80", "90", "95", "98", "99", "99.9", "99.99")
STATS = ("avg", "min", *(f"p({percent})" for percent in _PERCENTS), "max", "count")
"Numbers of a trend that the summary has."
_COUNTER = re.compile(r"benchforge_status_([1-9]\d\d)")
_OF_KIND = re.compile(r"(.*)\{kind:(\d{1,5})\}")


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
        counters = {
            _COUNTER.fullmatch(name): counter for name, counter in (self.model_extra or {}).items()
        }
        counts = {
            match[1]: _Counter.model_validate(counter).values.count
            for match, counter in counters.items()
            if match
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


class _State(ToolJson):
    ran_ms: Annotated[float, Field(alias="testRunDurationMs", gt=0, le=1e12)]


class K6Summary(ToolJson):
    """The document, to which our script of a mix adds which kinds are later steps of flows."""

    state: _State
    metrics: _Metrics
    later: tuple[bool, ...] = ()

    def reading(self, kinds: Sequence[str]) -> Reading:
        """Return it as a reading. Raises ValueError where counts do not agree."""
        seconds = self.state.ran_ms / 1000
        whole = _reading(self.metrics, seconds)
        if not kinds:
            return whole
        taken, again = self.metrics.taken, self.metrics.again
        if taken is None or again is None:
            raise ValueError("metrics: no benchforge_taken")
        update: dict[str, object] = {
            "kinds": self._of_kinds(kinds, seconds),
            "records_taken": (taken.values.count,),
            "stream_began_again": again.values.count,
        }
        return whole.model_copy(update=update)

    def _of_kinds(self, kinds: Sequence[str], seconds: float) -> dict[str, Reading]:
        metrics = self.metrics.of_kinds(kinds)
        if (total := sum(one.http_reqs.values.count for one in metrics)) != (
            requests := self.metrics.http_reqs.values.count
        ):
            raise ValueError(f"http_reqs: {requests}, but {total} of the kinds")
        readings: dict[str, Reading] = {}
        is_later = self.later or (False,) * len(kinds)
        for kind, of_kind, later in zip(kinds, metrics, is_later, strict=True):
            count = of_kind.unreached.values.count if later and of_kind.unreached else None
            readings[kind] = _reading(of_kind, seconds).model_copy(update={"not_reached": count})
        return readings


def _reading(metrics: _Metrics, seconds: float) -> Reading:
    requests, bad = metrics.http_reqs.values.count, metrics.status.values.count
    failed, fine = metrics.http_req_failed.values.passes, metrics.http_req_failed.values.fails
    lost, untaken = failed - bad, metrics.untaken.values.count if metrics.untaken else 0
    if failed + fine != requests or lost < 0 or untaken > fine:
        raise ValueError(
            f"http_reqs: {requests} are not {fine} good ones, {bad} with a bad status and {lost} "
            "lost ones"
        )
    # Each response has a status that the script counts, unless it lacks a value that is taken.
    responses, statuses = requests - lost - untaken, metrics.statuses
    if (counted := sum(statuses.values())) != responses:
        raise ValueError(f"benchforge_status: {counted} of {responses} responses have one")
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
        responses=responses,
        good_at_least=fine - untaken,
        good_at_most=fine - untaken,
        statuses=statuses,
        errors={"status": bad, "lost": lost, **({"take": untaken} if untaken else {})},
        unanswered=lost + untaken,
        received_bytes=metrics.data_received.values.count if metrics.data_received else None,
        promised_bytes=metrics.bodies.values.count if metrics.bodies else None,
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
    if absent := [name for name in STATS if name not in times]:
        raise ValueError(f"http_req_duration: no {absent[0]}")
    if times["count"] != requests:
        raise ValueError(
            f"http_req_duration: {readable.exact(times['count'])} times of {requests} requests"
        )
    names = {"0": "min", **{percent: f"p({percent})" for percent in _PERCENTS}, "100": "max"}
    percentiles = {percent: times[name] * 1000 for percent, name in names.items()}
    growing("http_req_duration", percentiles.values())
    return percentiles
