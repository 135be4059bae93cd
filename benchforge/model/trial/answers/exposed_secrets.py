"""Who was given secrets by arguments, which every user of a machine can read."""

from collections.abc import Iterable
from pathlib import PurePath

from benchforge.model.trial.trial import Trial

HIDDEN = "***"
"What stands in place of a secret."


def exposed(trials: Iterable[Trial]) -> str:
    """Return a sentence with the programs that received secrets as arguments; empty if none."""
    names = {
        PurePath(process.argv[0]).name
        for trial in trials
        for process in trial.processes
        if any(HIDDEN in word for word in process.argv[1:])
    }
    if not names:
        return ""
    return (
        f"in arguments of {', '.join(sorted(names))}: while they ran, "
        "every user of this machine could read them there"
    )
