"""Response times: percentiles and the mean, or why they are not known."""

import math
from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from benchforge.plugin import (
    Histogram,
    Measurand,
    Metric,
    Reading,
    Sample,
    Trial,
    Window,
    WrongOption,
)

Percent = Annotated[float, Field(gt=0, lt=100)]
# Requests beyond a percentile: with fewer than the first it says nothing, with fewer than the
# second its tail is known to worse than about 10 %.
REFUSED_BELOW = 10
FEW_BELOW = 100


class Latency(Metric):
    """Percentiles and mean of the response times in seconds, from the histogram or the tool.

    Requests that took longer than the tool records are included, and so are those in flight at the
    end, if the tool reports their ages: a percentile among them is a lower bound. The mean covers
    responses only. No tool reports response times over time, so a warm-up that is part of the load
    is included. In a closed loop this is the service time under a load that waits for the server.
    """

    name: ClassVar[str] = "latency"
    measurand: ClassVar[Measurand] = "response time"
    unit: ClassVar[str] = "s"
    of_kinds: ClassVar[bool] = True
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    percentile: Percent | None = None
    "One percentile, without the others and without the mean."
    percentiles: tuple[Percent, ...] = (50, 90, 99)
    "Percentiles in percent."
    mean: bool = True
    "Inclusion of the mean."

    @model_validator(mode="after")
    def _one_or_several(self) -> Self:
        if self.percentile is not None and self.model_fields_set & {"percentiles", "mean"}:
            msg = "percentile stands alone: give it, or percentiles and mean"
            raise WrongOption(msg, "percentile", "percentiles", "mean")
        return self

    def parts(self) -> tuple[str | None, ...]:
        """Return the percentiles as p99, and the mean where it is asked for."""
        if self.percentile is not None:
            return (f"p{self.percentile:g}",)
        mean = ("mean",) if self.mean else ()
        return (*mean, *(f"p{percent:g}" for percent in self.percentiles))

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield a sample for the mean and one for each percentile, in seconds."""
        reading = trial.reading
        if reading is None:
            return
        for sample in self._of_reading(reading, label):
            estimator = ", ".join(filter(None, (sample.estimator, window.whole)))
            yield sample.model_copy(update={"estimator": estimator or None})

    def _of_reading(self, reading: Reading, label: str) -> Iterator[Sample]:
        if self.percentile is not None:
            yield self._percentile(reading, label, self.percentile)
            return
        if self.mean:
            yield self._mean(reading, label)
        for percent in self.percentiles:
            yield self._percentile(reading, label, percent)

    def _mean(self, reading: Reading, label: str) -> Sample:
        of = "mean"
        if reading.latency is None:
            if reading.mean_us is None:
                return self._unknown(label, of, "the tool gives no mean of its response times")
            return _sample(label, of, reading.mean_us, "mean, as the tool gives it")
        count = reading.latency.count + reading.censored
        if not count:
            return self._unknown(label, of, "no response")
        if reading.censored and reading.censored_from_us is None:
            return self._unknown(label, of, _too_long(reading))
        beyond = reading.censored * (reading.censored_from_us or 0)
        mean_us = (reading.latency.sum_us + beyond) / count
        at_least = reading.censored > 0
        return _sample(label, of, mean_us, "mean of every response", at_least=at_least)

    def _percentile(self, reading: Reading, label: str, percent: float) -> Sample:
        of = f"p{percent:g}"
        if reading.latency is not None:
            return self._of_histogram(reading, reading.latency, label, percent)
        given = reading.percentiles_us or {}
        if not given or not reading.latency_samples:
            return self._unknown(label, of, "the tool gives no response times")
        few, refused = _few(reading.latency_samples, percent)
        if refused:
            return self._unknown(label, of, few)
        if f"{percent:g}" not in given:
            by = f" ({reading.percentiles_by})" if reading.percentiles_by else ""
            return self._unknown(label, of, f"the tool gives no {of}{by}")
        return _sample(label, of, given[f"{percent:g}"], reading.percentiles_by, why=few)

    def _of_histogram(
        self, reading: Reading, histogram: Histogram, label: str, percent: float
    ) -> Sample:
        of = f"p{percent:g}"
        in_flight = reading.in_flight
        begun = histogram.count + reading.censored + (in_flight.count if in_flight else 0)
        few, refused = _few(begun, percent)
        if refused:
            return self._unknown(label, of, few)
        estimator = "type-1 quantile of the histogram of every response"
        if in_flight is not None and in_flight.count:
            estimator = "Kaplan-Meier quantile of every response and what was in flight at the end"
        value_us = histogram.quantile(percent / 100, reading.censored, in_flight)
        if value_us is not None:
            return _sample(label, of, value_us, estimator, why=few)
        bound_us = _bound_us(reading, histogram, percent)
        if bound_us is None:
            return self._unknown(label, of, _too_long(reading))
        return _sample(label, of, bound_us, estimator, why=few, at_least=True)

    def _unknown(self, label: str, of: str, why: str) -> Sample:
        return Sample(metric=label, unit=self.unit, value=None, of=of, why=why)


def _few(count: int, percent: float) -> tuple[str, bool]:
    """Return what to say of too few responses, and whether they are too few to give a number."""
    # Rounded, because 100 - 99.9 is a little less than 0.1.
    beyond = round(count * (100 - percent) / 100, 6)
    if beyond >= FEW_BELOW:
        return "", False
    refused = beyond < REFUSED_BELOW
    wanted = REFUSED_BELOW if refused else FEW_BELOW
    needed = math.ceil(round(wanted * 100 / (100 - percent), 6))
    if refused:
        return f"only {count} responses: p{percent:g} needs {needed}", refused
    return f"imprecise with {count} responses: {needed} are enough", refused


def _bound_us(reading: Reading, histogram: Histogram, percent: float) -> int | None:
    """Return what the percentile is at least: as if what was in flight had ended at once."""
    if reading.in_flight is not None:
        histogram = Histogram.added((histogram, reading.in_flight))
    value_us = histogram.quantile(percent / 100, reading.censored)
    return reading.censored_from_us if value_us is None else value_us


def _too_long(reading: Reading) -> str:
    return f"{reading.censored} requests took longer than the tool records"


def _sample(
    label: str, of: str, value_us: float, estimator: str, *, at_least: bool = False, why: str = ""
) -> Sample:
    return Sample(
        metric=label,
        unit="s",
        value=value_us / 1e6,
        of=of,
        estimator=estimator or None,
        lower_bound=at_least,
        why=why,
    )
