"""Values of a trial that several families of checks read."""

from collections.abc import Iterator, Mapping, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import MachineUsage, Observation, Usage
from benchforge.model.trial.reading import Reading
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import Role, comparison
from benchforge.model.values.cpus import Cpus

NOT_OBSERVED = "nothing was observed from outside"
NOT_LOOKED_AT = "only what the parts used was looked at, not what the machine did"


CaseTrials = Sequence[Sequence[Trial]]
"Trials of each case."


def not_compared(cases: CaseTrials, limits: Thresholds, *ids: str) -> Iterator[Check]:
    """Yield that nothing is known of a comparison of which not two cases are believed."""
    if len(cases) > 1:
        says = "not compared: fewer than two of the cases have a trial that is believed"
        for id_ in ids:
            yield limits.check(id_, "behaviour", None, says).about(scope="comparison")


def machine_of(trial: Trial) -> MachineUsage | None:
    """Return what the machine did meanwhile; None where nobody looked."""
    return None if trial.observation is None else trial.observation.machine


def of_roles(trial: Trial, *roles: Role) -> list[Usage]:
    """Return what the parts of these roles used."""
    usages = () if trial.observation is None else trial.observation.usage
    return [usage for usage in usages if usage.role in roles]


def why_unknown(usage: Usage, quantity: str) -> str:
    """Return a sentence for something of a part that is None."""
    return f"{quantity} of {usage.label} is not known: {usage.why or '/proc did not tell'}"


def because(usage: Usage) -> str:
    """Return the end of a sentence: why something of a part is None."""
    return f": {usage.why}" if usage.why else ""


def requests(reading: Reading) -> int:
    """Return how many requests ended, as far as the tool tells."""
    return reading.responses + (reading.unanswered or 0)


def grown(observation: Observation | None, *names: str) -> int | None:
    """Return by how much counters of the network grew together; None where none were read."""
    if observation is None or not observation.counters:
        return None
    return sum(observation.counters.get(name, 0) for name in names)


def cpus_of(trial: Trial, role: Role) -> int | None:
    """Return how many CPUs a role may use; None where it is not known."""
    if trial.placement is not None and role in trial.placement.cpus:
        return len(Cpus.parse(trial.placement.cpus[role]))
    observations = [trial.observation, *(host.observation for host in trial.hosts.values())]
    for observation in filter(None, observations):
        roles = {part.role for part in observation.usage}
        has_role = observation is trial.observation or role in roles
        if observation.machine is not None and has_role:
            return observation.machine.cpus
    return None


def users_think(trial: Trial) -> bool:
    """Return True if a connection may be idle since its user thinks."""
    kinds = () if trial.stream is None else trial.stream.kinds.values()
    return bool(trial.load and trial.load.think_s) or any(kind.think_s for kind in kinds)


def cores(trial: Trial, usage: Usage) -> float | None:
    """Return how many CPUs a service used on average while it was loaded; None if not known."""
    if trial.reading is None or usage.cpu_s is None:
        return None
    return usage.cpu_s / trial.reading.seconds


def compared(trial: Trial) -> str:
    """Return the label of what is compared, a server or a client."""
    return trial.case.driver if _of_client(trial) else trial.case.server


def _of_client(trial: Trial) -> bool:
    return trial.load is not None and trial.load.kind == "client"


def by_name(cases: CaseTrials) -> dict[str, Sequence[Trial]]:
    """Return the trials of those cases that have any, by names for a person, all different."""
    groups = [trials for trials in cases if trials]
    keys = {
        comparison(group[0].case, "clients" if _of_client(group[0]) else "servers")
        for group in groups
    }
    sides: dict[str, Sequence[Trial]] = {}
    for trials in groups:
        case = trials[0].case
        settings = [f"({path.rpartition('.')[2]}={value})" for path, value in case.vary.items()]
        name = " ".join([compared(trials[0]), *settings]) if len(keys) == 1 else case.within
        sides[name if name not in sides else f"{name} #{len(sides) + 1}"] = trials
    return sides


def of_one_server(sides: Mapping[str, Sequence[Trial]]) -> bool:
    """Return True if clients of one server are compared."""
    return len({trials[0].case.driver for trials in sides.values()}) > 1
