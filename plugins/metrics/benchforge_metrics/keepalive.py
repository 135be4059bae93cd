"""How many responses came over one TCP connection."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from benchforge.plugin import Metric, Reading, Sample, Trial, Window

COUNTER = "TcpPassiveOpens"


class KeepAlive(Metric):
    """Complete responses per TCP connection that was opened during the load.

    The number of connections comes from the tool if it reports one. Otherwise it comes from the
    counter of accepted connections in the trial's network, minus those that the tool opens to test
    the address.
    """

    name: ClassVar[str] = "keepalive"
    unit: ClassVar[str] = "1"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    fixed_parts: ClassVar[tuple[str | None, ...]] = (None,)

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        """Yield one sample: responses a connection."""
        reading = trial.reading
        if reading is None:
            return
        opened, origin = _opened(trial, reading)
        if opened is None:
            yield Sample(metric=label, unit=self.unit, value=None, why=origin)
        elif opened <= 0:
            why = f"no connection was opened during the load ({origin})"
            yield Sample(metric=label, unit=self.unit, value=None, why=why)
        else:
            value = reading.responses / opened
            yield Sample(metric=label, unit=self.unit, value=value, estimator=origin)


def _opened(trial: Trial, reading: Reading) -> tuple[int | None, str]:
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
