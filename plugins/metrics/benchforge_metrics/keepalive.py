"""Number of responses per TCP connection."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Literal

from benchforge.plugin import Reading, Window
from benchforge_metrics.of_reading import OfReading, Value

if TYPE_CHECKING:
    from benchforge.plugin import Trial

COUNTER = "TcpPassiveOpens"


class KeepAlive(OfReading):
    """Complete responses per TCP connection that was opened during the load.

    The number of connections comes from the tool if it reports one. Otherwise it comes from the
    counter of accepted connections in the trial's network, minus those that the tool opens to test
    the address.
    """

    name: ClassVar[str] = "keepalive"
    unit: ClassVar[str] = "1"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    fixed_parts: ClassVar[tuple[str | None, ...]] = (None,)

    def values(self, trial: "Trial", reading: Reading, window: Window) -> Iterator[Value]:
        opened, origin = _opened(trial, reading)
        if opened is None:
            yield Value(None, origin)
        elif opened <= 0:
            yield Value(None, f"no connection was opened during the load ({origin})")
        else:
            yield Value(reading.responses / opened, "", origin)


def _opened(trial: "Trial", reading: Reading) -> tuple[int | None, str]:
    """Return the number of connections and where it is from, or None and why it is not known."""
    if reading.connections is not None:
        return reading.connections, "connections as the tool tells"
    observation = trial.observation
    if observation is None:
        return None, "nothing was observed"
    if observation.network != "private":
        return None, "the trial shared the machine's network, whose counters hold others' too"
    if observation.foreign_connections:
        return None, observation.foreign_connections
    if COUNTER not in observation.counters:
        return None, f"the network's counter {COUNTER} was not read"
    opened = observation.counters[COUNTER] - reading.test_connections
    return opened, f"connections from the network's counter {COUNTER}"
