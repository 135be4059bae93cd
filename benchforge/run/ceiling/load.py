"""The load of a ceiling, from that of the trials."""

from benchforge.model.values.units import Rate
from benchforge.parts.part import Driver

LOAD_S = 2.0


def load_of(driver: Driver, place: int = 0, places: int = 1) -> Driver:
    """Return a driver for a ceiling: brief, and at twice its rate, where it has one.

    At the same rate it would tell nothing. `place` is that of a load tool among those that divide
    the load, and `places` their number.
    """
    own = (driver.divided(place, places) if places > 1 else None) or driver
    rate = getattr(own, "rate", None)
    twice = own if rate is None else own.model_copy(update={"rate": Rate(2 * rate)})
    return twice.for_warm_up(LOAD_S)
