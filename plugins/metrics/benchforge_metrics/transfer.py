"""Bytes received per second."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Metric, Sample, Trial, Window


class Transfer(Metric):
    """Bytes that the tool read per second of load, including headers and the warm-up."""

    name: ClassVar[str] = "transfer"
    unit: ClassVar[str] = "B/s"
    of_kinds: ClassVar[bool] = True
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    fixed_parts: ClassVar[tuple[str | None, ...]] = (None,)

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield one sample, in B/s."""
        reading = trial.reading
        if reading is None:
            return
        if reading.received_bytes is None or reading.byte_error:
            rounds = "rounds what" if reading.byte_error else "does not tell how much"
            why = f"the tool {rounds} it received"
            yield Sample(metric=label, unit=self.unit, value=None, why=why)
        else:
            value = reading.received_bytes / reading.seconds
            estimator = window.whole or None
            yield Sample(metric=label, unit=self.unit, value=value, estimator=estimator)
