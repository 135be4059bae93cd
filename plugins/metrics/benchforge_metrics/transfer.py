"""Bytes received per second."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from benchforge.plugin import Reading, Window
from benchforge_metrics.of_reading import OfReading, Value

if TYPE_CHECKING:
    from benchforge.plugin import Trial


class Transfer(OfReading):
    """Bytes that the tool read per second of load, including headers and the warm-up."""

    name: ClassVar[str] = "transfer"
    unit: ClassVar[str] = "B/s"
    of_kinds: ClassVar[bool] = True
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    fixed_parts: ClassVar[tuple[str | None, ...]] = (None,)

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        if reading.received_bytes is None or reading.byte_error:
            rounds = "rounds what" if reading.byte_error else "does not tell how much"
            yield Value(None, f"the tool {rounds} it received")
        else:
            yield Value(reading.received_bytes / reading.seconds, "", window.whole)
