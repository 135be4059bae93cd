"""What a run takes from the calibration of this machine, and what it says of that."""

from benchforge.checks.limits import limits
from benchforge.checks.machine.calibrated import thresholds
from benchforge.cli.console.say import say, warn
from benchforge.model.files.calibration import Calibration
from benchforge.run.machine.calibration import kept, stale
from benchforge.text.program import program
from benchforge.text.readable import exact


def loosened() -> dict[str, float]:
    """Return the warnings that this machine's calibration loosens, by the id of the limit."""
    among = limits()
    match kept():
        case None:
            return {}
        case Calibration() as calibration if why := stale(calibration, among):
            warn(f"the calibration is not used: {why}; `{program()} calibrate` makes a new one")
            return {}
        case Calibration() as calibration:
            quiet = thresholds(calibration, among)
            changes = ", ".join(
                f"{id_} {among[id_].name} from {exact(among[id_].warn)} to {exact(least)}"
                for id_, least in quiet.items()
            )
            if changes:
                when = f"{calibration.created:%Y-%m-%d}"
                when += " without the machine's lock" * bool(calibration.lock_holder)
                say(f"loosened to this machine, as calibrated on {when}: {changes}")
            return quiet
        case faults:
            warn(f"the calibration is not used: {faults[0]}")
            return {}
