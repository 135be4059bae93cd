"""How many requests did not end well, and which share they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchforge.plugin import Measurand, Metric, Reading, Sample, Trial, Window, after_cut

NOT_TOLD = "the tool does not tell how many requests got no response"


class Errors(Metric):
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
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield the total, then one sample for each class, those without errors too."""
        reading = trial.reading
        if reading is None:
            return
        ended = _ended(trial, reading, window)
        estimator = ended.extent or None
        yield Sample(
            metric=label,
            unit=self.unit,
            value=ended.bad,
            why=ended.why,
            estimator=estimator,
            failed=ended.bad,
            requests=None if ended.bad is None else ended.requests,
        )
        whole = window.whole or None
        for name, count in reading.errors.items():
            yield Sample(metric=label, unit=self.unit, value=count, of=name, estimator=whole)
        if (lacking := reading.not_reached) is not None:
            of = "not reached"
            yield Sample(metric=label, unit=self.unit, value=lacking, of=of, estimator=whole)


class ErrorRate(Metric):
    """The share of all requests without a good response, from 0 to 1.

    It excludes the warm-up if the tool reports when each request ended.
    """

    name: ClassVar[str] = "error_rate"
    measurand: ClassVar[Measurand] = "share of failed requests"
    unit: ClassVar[str] = "1"
    of_kinds: ClassVar[bool] = True
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    fixed_parts: ClassVar[tuple[str | None, ...]] = (None,)

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield one sample; unknown where the total of the errors is, or nothing ended."""
        reading = trial.reading
        if reading is None:
            return
        ended = _ended(trial, reading, window)
        share, why = None, ended.why
        if ended.bad is not None:
            share = ended.bad / ended.requests if ended.requests else None
            why = "" if ended.requests else "no request ended"
        estimator = ended.extent or None
        yield Sample(
            metric=label,
            unit=self.unit,
            value=share,
            why=why,
            estimator=estimator,
            failed=None if share is None else ended.bad,
            requests=None if share is None else ended.requests,
        )


@dataclass(frozen=True)
class _Ended:
    requests: int
    bad: int | None
    why: str = ""
    "Reason why the number of bad requests is unknown."
    extent: str = ""
    "Covered part of the load; empty for the whole load."


def _ended(trial: Trial, reading: Reading, window: Window) -> _Ended:
    """Return how many requests ended, and how many of them not well."""
    requests = reading.responses + (reading.unanswered or 0)
    if reading.good is None:
        return _Ended(requests, None, reading.bounds)
    if reading.unanswered is None:
        return _Ended(requests, None, NOT_TOLD)
    bad = reading.responses - reading.good + reading.unanswered
    left = after_cut(trial, window)
    if not window.cut_s or not bad:
        return _Ended(requests, bad)
    # When responses of another status came, nobody tells.
    if left is None or left.unanswered is None or reading.good < reading.responses:
        return _Ended(requests, bad, extent=window.whole)
    extent = f"{left.note}; {bad} in the whole load"
    answered = round(reading.responses * left.share)
    return _Ended(answered + left.unanswered, left.unanswered, extent=extent)
