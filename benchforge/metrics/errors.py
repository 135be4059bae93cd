"""How many requests did not end well, and which share they are."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Metric, Reading, Sample, Trial, hookimpl

NOT_TOLD = "the tool does not tell how many requests got no response"


class Errors(Metric):
    """All requests that did not end with a good response, and the tool's classes of errors.

    The total is formed from responses, good ones and unanswered requests, never by adding classes:
    they may overlap. A late response (class timeout of wrk) is complete, and good if its status is.
    """

    name: ClassVar[str] = "errors"
    unit: ClassVar[str] = "1"
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    def of_trial(self, trial: Trial, label: str) -> Iterator[Sample]:
        """Yield the total, then one sample for each class, those without errors too."""
        reading = trial.reading
        if reading is None:
            return
        bad, why = _not_good(reading)
        yield Sample(metric=label, unit=self.unit, value=bad, why=why)
        for name, count in reading.errors.items():
            yield Sample(metric=label, unit=self.unit, value=count, of=name)


class ErrorRate(Metric):
    """The share of all requests that did not end with a good response, from 0 to 1."""

    name: ClassVar[str] = "error_rate"
    unit: ClassVar[str] = "1"
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    def of_trial(self, trial: Trial, label: str) -> Iterator[Sample]:
        """Yield one sample; unknown where the total of the errors is, or nothing ended."""
        reading = trial.reading
        if reading is None:
            return
        bad, why = _not_good(reading)
        requests = reading.responses + (reading.unanswered or 0)
        if bad is not None and not requests:
            bad, why = None, "no request ended"
        share = None if bad is None else bad / requests
        yield Sample(metric=label, unit=self.unit, value=share, why=why)


def _not_good(reading: Reading) -> tuple[int | None, str]:
    """Return the number of requests that did not end well, or why it is not known."""
    if reading.good is None:
        return None, reading.bounds
    if reading.unanswered is None:
        return None, NOT_TOLD
    return reading.responses - reading.good + reading.unanswered, ""


@hookimpl
def benchforge_parts() -> list[type[Metric]]:
    """Return errors and error_rate."""
    return [Errors, ErrorRate]
