"""What several families look at in a trial."""

from collections.abc import Sequence

from benchforge.model.cpus import Cpus
from benchforge.model.observation import Observation, Role, Usage
from benchforge.model.reading import Reading
from benchforge.model.trial import Trial

NOT_OBSERVED = "nothing was observed from outside"


def of_roles(trial: Trial, *roles: Role) -> list[Usage]:
    """Return what the parts of these roles used."""
    every = () if trial.observation is None else trial.observation.usage
    return [one for one in every if one.role in roles]


def why_unknown(usage: Usage, what: str) -> str:
    """Return a sentence for something of a part that is None."""
    return f"{what} of {usage.label} is not known: {usage.why or '/proc did not tell'}"


def requests(reading: Reading) -> int:
    """Return how many requests ended, as far as the tool tells."""
    return reading.responses + (reading.unanswered or 0)


def grown(observation: Observation, *names: str) -> int | None:
    """Return by how much counters of the network grew together; None where none were read.

    Those that did not grow are left out of an observation, and it always holds some others: every
    request over TCP makes segments.
    """
    if not observation.counters:
        return None
    return sum(observation.counters.get(name, 0) for name in names)


def cpus_of(trial: Trial, role: Role) -> int | None:
    """Return how many CPUs a role may use; None where it is not known."""
    if trial.placed is not None and role in trial.placed.cpus:
        return len(Cpus.parse(trial.placed.cpus[role]))
    machine = None if trial.observation is None else trial.observation.machine
    return None if machine is None else machine.cpus


def cores(trial: Trial, usage: Usage) -> float | None:
    """Return how many CPUs a service used on average while it was loaded; None if not known."""
    if trial.reading is None or usage.cpu_s is None:
        return None
    return usage.cpu_s / trial.reading.seconds


def by_name(cases: Sequence[Sequence[Trial]]) -> dict[str, Sequence[Trial]]:
    """Return the trials of those cases that have any, by names for a person, all different."""
    found: dict[str, Sequence[Trial]] = {}
    for trials in cases:
        if trials:
            name = _named(trials[0])
            found[name if name not in found else f"{name} #{len(found) + 1}"] = trials
    return found


def _named(trial: Trial) -> str:
    case = trial.case
    own = [f"{path.rpartition('.')[2]}={value}" for path, value in case.vary.items()]
    arm = [f"arm {case.arm}"] if case.arm > 1 else []
    return " ".join([case.server, *(f"({one})" for one in (*own, *arm))])
