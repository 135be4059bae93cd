"""The number and the share of requests without a good response."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from benchforge.plugin import Measurand, Reading, Window, after_cut
from benchforge_metrics.of_reading import OfReading, Value

if TYPE_CHECKING:
    from benchforge.plugin import Trial

NOT_TOLD = "the tool does not tell how many requests got no response"


class Errors(OfReading):
    """All requests without a good response, and the load tool's classes of errors.

    The total comes from responses, good responses and unanswered requests. It is never a sum of
    classes, because they may overlap. A late response (class timeout of wrk) is complete, and good
    if its status is. The total excludes the warm-up if the tool reports when requests ended;
    classes cover the whole load. `not reached` is about the later steps of flows: requests that
    were not sent, since a flow had ended before. The total is without them.
    """

    name: ClassVar[str] = "errors"
    measurand: ClassVar[Measurand] = "failed requests"
    unit: ClassVar[str] = "1"
    of_kinds: ClassVar[bool] = True

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        """Yield the total, then a value for each class, also without errors."""
        ended = _ended(trial, reading, window)
        yield ended.value(ended.bad, ended.why)
        for name, count in reading.errors.items():
            yield Value(count, "", window.whole, name)
        if reading.not_reached is not None:
            yield Value(reading.not_reached, "", window.whole, "not reached")


class ErrorRate(OfReading):
    """The share of all requests without a good response, from 0 to 1.

    It excludes the warm-up if the tool reports when each request ended.
    """

    name: ClassVar[str] = "error_rate"
    measurand: ClassVar[Measurand] = "share of failed requests"
    unit: ClassVar[str] = "1"
    of_kinds: ClassVar[bool] = True
    fixed_parts: ClassVar[tuple[str | None, ...]] = (None,)

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        ended = _ended(trial, reading, window)
        if ended.bad is None or ended.requests:
            yield ended.value(ended.bad and ended.bad / ended.requests, ended.why)
        else:
            yield ended.value(None, "no request ended")


@dataclass(frozen=True)
class _Ended:
    requests: int
    bad: int | None
    why: str = ""
    "Reason why the number of bad requests is unknown."
    extent: str = ""
    "Covered part of the load; empty for the whole load."

    def value(self, value: float | None, reason: str) -> Value:
        """Return a value of these requests."""
        failed, requests = (None, None) if value is None else (self.bad, self.requests)
        return Value(value, reason, self.extent, failed=failed, requests=requests)


def _ended(trial: "Trial", reading: Reading, window: Window) -> _Ended:
    requests = reading.responses + (reading.unanswered or 0)
    if reading.good is None:
        return _Ended(requests, None, reading.bounds)
    if reading.unanswered is None:
        return _Ended(requests, None, NOT_TOLD)
    bad = reading.responses - reading.good + reading.unanswered
    cut = after_cut(trial, window)
    if not window.cut_s or not bad:
        return _Ended(requests, bad)
    # When responses of another status came, nobody tells.
    if cut is None or cut.unanswered is None or reading.good < reading.responses:
        return _Ended(requests, bad, extent=window.whole)
    extent = f"{cut.note}; {bad} in the whole load"
    answered = round(reading.responses * cut.share)
    return _Ended(answered + cut.unanswered, cut.unanswered, extent=extent)
