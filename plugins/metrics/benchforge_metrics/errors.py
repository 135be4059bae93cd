"""How many requests did not end well, and which share they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchforge.plugin import Metric, Reading, Sample, Trial, Window, hookimpl, kept

NOT_TOLD = "the tool does not tell how many requests got no response"


class Errors(Metric):
    """All requests that did not end with a good response, and the tool's classes of errors.

    The total is formed from responses, good ones and unanswered requests, never by adding classes:
    they may overlap. A late response (class timeout of wrk) is complete, and good if its status is.
    The total is without the warm-up where the tool tells when; classes are of the whole load.
    """

    name: ClassVar[str] = "errors"
    unit: ClassVar[str] = "1"
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield the total, then one sample for each class, those without errors too."""
        reading = trial.reading
        if reading is None:
            return
        one = _ended(trial, reading, window)
        told = one.told or None
        yield Sample(
            metric=label,
            unit=self.unit,
            value=one.bad,
            why=one.why,
            estimator=told,
            failed=one.bad,
            requests=None if one.bad is None else one.requests,
        )
        whole = window.whole or None
        for name, count in reading.errors.items():
            yield Sample(metric=label, unit=self.unit, value=count, of=name, estimator=whole)


class ErrorRate(Metric):
    """The share of all requests that did not end with a good response, from 0 to 1.

    Without the warm-up where the tool tells when each request ended.
    """

    name: ClassVar[str] = "error_rate"
    unit: ClassVar[str] = "1"
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    def parts(self) -> tuple[str | None, ...]:
        """Return that there is one number."""
        return (None,)

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield one sample; unknown where the total of the errors is, or nothing ended."""
        reading = trial.reading
        if reading is None:
            return
        one = _ended(trial, reading, window)
        share, why = None, one.why
        if one.bad is not None:
            share = one.bad / one.requests if one.requests else None
            why = "" if one.requests else "no request ended"
        told = one.told or None
        yield Sample(
            metric=label,
            unit=self.unit,
            value=share,
            why=why,
            estimator=told,
            failed=None if share is None else one.bad,
            requests=None if share is None else one.requests,
        )


@dataclass(frozen=True)
class _Ended:
    requests: int
    bad: int | None
    why: str = ""
    "Why the number of bad ones is not known."
    told: str = ""
    "How much of the load this is of; empty for all where nothing is cut."


def _ended(trial: Trial, reading: Reading, window: Window) -> _Ended:
    """Return how many requests ended, and how many of them not well."""
    requests = reading.responses + (reading.unanswered or 0)
    if reading.good is None:
        return _Ended(requests, None, reading.bounds)
    if reading.unanswered is None:
        return _Ended(requests, None, NOT_TOLD)
    bad = reading.responses - reading.good + reading.unanswered
    left = kept(trial, window)
    if not window.cut_s or not bad:
        return _Ended(requests, bad)
    # When responses of another status came, nobody tells.
    if left is None or left.unanswered is None or reading.good < reading.responses:
        return _Ended(requests, bad, told=window.whole)
    told = f"{left.told}; {bad} in the whole load"
    answered = round(reading.responses * left.share)
    return _Ended(answered + left.unanswered, left.unanswered, told=told)


@hookimpl
def benchforge_parts() -> list[type[Metric]]:
    """Return errors and error_rate."""
    return [Errors, ErrorRate]
