"""Responses per second."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from benchforge.plugin import Measurand, Reading, Window, after_cut
from benchforge_metrics.of_reading import OfReading, Value

if TYPE_CHECKING:
    from benchforge.plugin import Trial


class Throughput(OfReading):
    """Good responses per second of load; with `count = "all"`, complete responses of any status.

    The warm-up is excluded if it is known: the number of responses is then multiplied by the share
    that ended after the warm-up, and divided by the seconds after it.
    """

    name: ClassVar[str] = "throughput"
    measurand: ClassVar[Measurand] = "responses per second"
    unit: ClassVar[str] = "requests/s"
    in_turns: ClassVar[bool] = True
    of_kinds: ClassVar[bool] = True
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    fixed_parts: ClassVar[tuple[str | None, ...]] = (None,)

    count: Literal["good", "all"] = "good"
    "Responses that count: good ones, or complete ones of any status."

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        """Yield one value, in 1/s; unknown where only bounds of the good responses are known."""
        rest = after_cut(trial, window)
        counted = reading.responses if self.count == "all" else reading.good
        if counted is None:
            yield Value(None, reading.bounds)
        elif trial.turns is not None:
            yield Value(counted / reading.seconds, "", "in turns: only ratios are valid")
        elif rest is None:
            yield Value(counted / reading.seconds, "", "of the whole load: it cannot be cut")
        else:
            estimator = rest.note
            if estimator and counted < reading.responses:
                estimator += ", good ones by their share of all responses"
            yield Value(counted * rest.share / rest.seconds, "", estimator)
