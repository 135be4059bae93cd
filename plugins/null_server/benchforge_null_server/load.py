"""The load of a ceiling, from that of the trials."""

from benchforge.model.values.units import Rate
from benchforge.parts.part import Driver

LOAD_S = 2.0


def load_of(driver: Driver) -> Driver:
    """Return a driver for a ceiling: brief, and at twice its rate, where it has one.

    At the same rate it would tell nothing.
    """
    rate = getattr(driver, "rate", None)
    twice = driver if rate is None else driver.model_copy(update={"rate": Rate(2 * rate)})
    return twice.for_warm_up(LOAD_S)
