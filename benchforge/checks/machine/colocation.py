"""Parts of a trial that share CPUs, and the waiting that this explains.

Unless others are known to be at work, a part's waiting is a warning at most, and none where no
placement could change it. A load tool with CPUs of its own that waits has too few of them: that is
a fault of the apparatus.
"""

from typing import NamedTuple

from benchforge.checks.limits import Thresholds
from benchforge.checks.machine import foreign
from benchforge.model.trial.check import Status
from benchforge.model.trial.observation import Role
from benchforge.model.trial.trial import Trial
from benchforge.model.values.cpus import Cpus
from benchforge.text.readable import conjoined


class Waiting(NamedTuple):
    """How a part waited for CPUs, what explains it, and the id of the check that tells that."""

    status: Status
    why: str = ""
    because: str = ""


def cpus_of(trial: Trial, role: Role) -> Cpus | None:
    """Return the CPUs on which a role was put; None where it may use all."""
    placed = {} if trial.placement is None else trial.placement.cpus
    return Cpus.parse(placed[role]) if role in placed else None


def beside(trial: Trial, role: Role) -> tuple[Role, ...]:
    """Return the other roles of the trial that may use some of a role's CPUs."""
    used = () if trial.observation is None else trial.observation.usage
    others: dict[Role, None] = {usage.role: None for usage in used if usage.role != role}
    return tuple(other for other in others if _overlap(trial, role, other))


def alone(trial: Trial, limits: Thresholds, limit: str, value: float, role: Role) -> Waiting:
    """Judge how a part waited for CPUs, and say what of the trial itself explains it.

    It fails only where others are known to have taken CPU (N1 or N4), or the load tool waits on
    CPUs of its own.
    """
    status = limits[limit].status(value)
    if status == "pass":
        return Waiting(status)
    if taker := foreign.at_work(trial, limits):
        return Waiting(status, "others used CPU meanwhile, see foreign-cpu and steal", taker)
    others = beside(trial, role)
    if others:
        reason = f"the {role} shares its CPUs with {conjoined(others)}"
        with_tool = "loader" in {role, *others}
        if not with_tool and _crowded(trial):
            return Waiting("pass", f"{reason}: there are fewer CPUs than parts")
        cause = "P1" if with_tool else ""
        return Waiting("warn", f"{reason}: place them apart ([placement])", cause)
    if role == "loader":
        return Waiting(status, "its CPUs are too few for its threads: give it more ([placement])")
    reason = "nobody else is known to have used its CPUs: its own threads wait for one another"
    return Waiting("warn", reason)


def _crowded(trial: Trial) -> bool:
    """Return True if there are fewer CPUs than parts: no placement gives each its own."""
    observation = trial.observation
    if observation is None or observation.machine is None:
        return False
    return observation.machine.cpus < len({part.role for part in observation.usage})


def _overlap(trial: Trial, role: Role, other: Role) -> bool:
    first, second = cpus_of(trial, role), cpus_of(trial, other)
    return first is None or second is None or not set(first).isdisjoint(second)
