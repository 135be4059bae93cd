"""CPU time that a server spends after its load for its responses (W5)."""

from collections.abc import Iterator, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import by_name, of_roles, why_unknown
from benchforge.model.trial.check import Check
from benchforge.model.trial.observation import WorkAfter
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, exact

_UNSEEN = "later work, and what backends and programs outside of the trial do for it, is not seen"


def of_cases(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield for each server what it spent after its load, of all trials in which it was watched."""
    for name, trials in by_name(cases).items():
        checks = [_of_trial(name, trial, limits) for trial in trials if trial.measured]
        valued = [check for check in checks if check.value is not None]
        if checks:
            yield max(valued, key=lambda check: check.value or 0.0, default=checks[0])


def _of_trial(name: str, trial: Trial, limits: Thresholds) -> Check:
    observation, reading = trial.observation, trial.reading
    says = f"what {name} spends after its load is not known: "
    if observation is None or observation.after is None or reading is None:
        return _check(name, None, f"{says}nobody watched it then", limits)
    servers = of_roles(trial, "server")
    during_s = sum(usage.cpu_s or 0.0 for usage in servers)
    responses = max(1, reading.responses)
    if not during_s:
        reason = why_unknown(servers[0], "the CPU time") if servers else "no server was observed"
        return _check(name, None, says + reason, limits)
    # Requests under way at the end of a load are answered after it.
    unfinished = (trial.load.concurrency or 0) if trial.load else 0
    later_s = max(0.0, observation.after.cpu_s - unfinished * during_s / responses)
    during, later = (amount("s", seconds / responses) for seconds in (during_s, later_s))
    says = f"{name} spent {later} of CPU time per response after the load, and {during} during it"
    return _check(name, later_s / during_s, f"{says}{_watched(observation.after)}", limits)


def _watched(later: WorkAfter) -> str:
    end = "it idled then" if later.idle else "and it went on"
    return f" (watched for {exact(round(later.seconds, 1))} s, {end}): {_UNSEEN}"


def _check(name: str, value: float | None, says: str, limits: Thresholds) -> Check:
    return limits.check("W5", "apparatus", value, says).about(name, "comparison", "cost")
