"""What a run takes from the calibration of this machine, and what it says of that."""

from benchforge.checks.limits import limits
from benchforge.checks.quiet import thresholds
from benchforge.cli.say import say, warn
from benchforge.model.calibration import Calibration
from benchforge.run.calibration import kept, stale


def loosened() -> dict[str, float]:
    """Return the warnings that this machine's calibration loosens, by the id of the limit."""
    among = limits()
    match kept():
        case None:
            return {}
        case Calibration() as found if why := stale(found, among):
            warn(f"the calibration is not used: {why}; `benchforge calibrate` makes a new one")
            return {}
        case Calibration() as found:
            quiet = thresholds(found, among)
            told = ", ".join(
                f"{id_} {among[id_].name} from {among[id_].warn:g} to {least:g}"
                for id_, least in quiet.items()
            )
            if told:
                say(f"loosened to this machine, as calibrated on {found.created:%Y-%m-%d}: {told}")
            return quiet
        case faults:
            warn(f"the calibration is not used: {faults[0]}")
            return {}
