"""Response times: percentiles and the mean, or why they are not known."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field, model_validator

from benchforge.plugin import Histogram, Measurand, Reading, Window, WrongOption
from benchforge_metrics.of_reading import OfReading, Value

if TYPE_CHECKING:
    from benchforge.plugin import Trial

Percent = Annotated[float, Field(gt=0, lt=100)]
# Requests beyond a percentile: with fewer than the first it says nothing, with fewer than the
# second its tail is known to worse than about 10 %.
REFUSED_BELOW = 10
FEW_BELOW = 100


class Latency(OfReading):
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
        return tuple("mean" if percent is None else f"p{percent:g}" for percent in self._percents())

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        for part, percent in zip(self.parts(), self._percents(), strict=True):
            value = _mean(reading) if percent is None else _percentile(reading, percent)
            estimator = ", ".join(filter(None, (value.estimator, window.whole)))
            yield value._replace(of=part, estimator=estimator)

    def _percents(self) -> tuple[float | None, ...]:
        if self.percentile is not None:
            return (self.percentile,)
        return (*((None,) if self.mean else ()), *self.percentiles)


def _mean(reading: Reading) -> Value:
    if reading.latency is None:
        if reading.mean_us is None:
            return Value(None, "the tool gives no mean of its response times")
        return Value(reading.mean_us / 1e6, "", "mean, as the tool gives it")
    count = reading.latency.count + reading.censored
    if not count:
        return Value(None, "no response")
    if reading.censored and reading.censored_from_us is None:
        return Value(None, _too_long(reading))
    beyond = reading.censored * (reading.censored_from_us or 0)
    mean_us = (reading.latency.sum_us + beyond) / count
    at_least = reading.censored > 0
    return Value(mean_us / 1e6, "", "mean of every response", lower_bound=at_least)


def _percentile(reading: Reading, percent: float) -> Value:
    if reading.latency is not None:
        return _of_histogram(reading, reading.latency, percent)
    times_us = reading.percentiles_us or {}
    if not times_us or not reading.latency_samples:
        return Value(None, "the tool gives no response times")
    few, refused = _few(reading.latency_samples, percent)
    if refused:
        return Value(None, few)
    if f"{percent:g}" not in times_us:
        method = f" ({reading.percentiles_by})" if reading.percentiles_by else ""
        return Value(None, f"the tool gives no p{percent:g}{method}")
    return Value(times_us[f"{percent:g}"] / 1e6, few, reading.percentiles_by)


def _of_histogram(reading: Reading, histogram: Histogram, percent: float) -> Value:
    in_flight = reading.in_flight
    begun = histogram.count + reading.censored + (in_flight.count if in_flight else 0)
    few, refused = _few(begun, percent)
    if refused:
        return Value(None, few)
    estimator = "type-1 quantile of the histogram of every response"
    if in_flight is not None and in_flight.count:
        estimator = "Kaplan-Meier quantile of every response and what was in flight at the end"
    value_us = histogram.quantile(percent / 100, reading.censored, in_flight)
    if value_us is not None:
        return Value(value_us / 1e6, few, estimator)
    if (bound_us := _bound_us(reading, histogram, percent)) is None:
        return Value(None, _too_long(reading))
    return Value(bound_us / 1e6, few, estimator, lower_bound=True)


def _few(count: int, percent: float) -> tuple[str, bool]:
    """Return what to say of too few responses, and whether they are too few to give a number."""
    # Rounded, because 100 - 99.9 is a little less than 0.1.
    beyond = round(count * (100 - percent) / 100, 6)
    if beyond >= FEW_BELOW:
        return "", False
    refused = beyond < REFUSED_BELOW
    wanted = REFUSED_BELOW if refused else FEW_BELOW
    needed = math.ceil(round(wanted * 100 / (100 - percent), 6))
    imprecise = f"imprecise with {count} responses: {needed} are enough"
    return f"only {count} responses: p{percent:g} needs {needed}" if refused else imprecise, refused


def _bound_us(reading: Reading, histogram: Histogram, percent: float) -> int | None:
    """Return what the percentile is at least: as if what was in flight had ended at once."""
    if reading.in_flight is not None:
        histogram = Histogram.added((histogram, reading.in_flight))
    value_us = histogram.quantile(percent / 100, reading.censored)
    return reading.censored_from_us if value_us is None else value_us


def _too_long(reading: Reading) -> str:
    return f"{reading.censored} requests took longer than the tool records"
