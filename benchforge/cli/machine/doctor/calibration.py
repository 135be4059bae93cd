"""Whether it is known how loud this machine is when it is quiet."""

from collections.abc import Iterator

from benchforge.checks.limits import limits
from benchforge.cli.machine.calibrate.rounds import between_neighbours, shown
from benchforge.cli.machine.doctor.finding import MachineFinding, ok, unknown, warn
from benchforge.model.files.calibration import Calibration
from benchforge.run.machine.calibration import kept, stale
from benchforge.text.readable import percent

_ANEW = "benchforge calibrate"


def calibration_findings() -> Iterator[MachineFinding]:
    """Yield what the calibration says, that runs take their thresholds from."""
    match kept():
        case None:
            yield unknown("calibration", "there is none: how loud it is when quiet", _ANEW)
        case Calibration() as calibration if why := stale(calibration, limits()):
            yield warn("calibration", f"not used: {why}", _ANEW)
        case Calibration() as calibration:
            least = shown(between_neighbours(calibration.per_second)).get(10)
            difference = (
                "not known, since all rounds were equal" if least is None else percent(least)
            )
            says = (
                f"of {calibration.created:%Y-%m-%d}: the smallest difference that 10 blocks show: "
                f"{difference}"
            )
            if calibration.lock_holder:
                yield warn("calibration", f"{says}; {calibration.lock_holder}", _ANEW)
            else:
                yield ok("calibration", says)
        case faults:
            yield warn("calibration", f"not used: {faults[0]}", _ANEW)
