"""Whether it is known how loud this machine is when it is quiet."""

from collections.abc import Iterator

from benchforge.checks.limits import limits
from benchforge.model.calibration import Calibration
from benchforge.run.calibration import kept, stale
from benchforge.run.finding import Finding, ok, unknown, warn
from benchforge.stats.quiet import between_neighbours, shown

_ANEW = "benchforge calibrate"


def findings() -> Iterator[Finding]:
    """Yield what the calibration says, that runs take their thresholds from."""
    match kept():
        case None:
            yield unknown("calibration", "there is none: how loud it is when quiet", _ANEW)
        case Calibration() as found if why := stale(found, limits()):
            yield warn("calibration", f"not used: {why}", _ANEW)
        case Calibration() as found:
            least = shown(between_neighbours(found.per_second)).get(10)
            told = "not known, since all rounds were equal" if least is None else f"{least:.1%}"
            says = (
                f"of {found.created:%Y-%m-%d}: the smallest difference that 10 blocks show: {told}"
            )
            yield ok("calibration", says)
        case faults:
            yield warn("calibration", f"not used: {faults[0]}", _ANEW)
