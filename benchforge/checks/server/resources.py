"""Workers, CPU, what the limit was, the backend and its encryption (W1 to W4)."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_OBSERVED, by_name, cores, not_compared, of_roles, why_unknown
from benchforge.checks.server.bottleneck import backend, limiter
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.observation import Usage
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import amount, figure, percent


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a measured trial shows."""
    yield workers(trial, limits)
    yield from limiter(trial, limits)
    yield from backend(trial, limits)


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield what speaks against comparing cases: the believed trials of each."""
    sides = by_name(cases)
    if len(sides) > 1:
        yield _budgets(sides, limits)
        yield _used(sides, limits)
    else:
        yield from not_compared(cases, limits, "W1")


def workers(trial: Trial, limits: Thresholds) -> Check:
    """W1: what the server was told to have and used, and whether its workers shared the work."""
    server = next(iter(of_roles(trial, "server")), None)
    if server is None:
        return limits.check("W1", "behaviour", None, f"what the server used: {NOT_OBSERVED}")
    used, allotted = cores(trial, server), trial.workers.get(trial.case.server)
    if used is None:
        says = why_unknown(server, "the CPU time")
        return limits.check("W1", "behaviour", None, says).about(server.label)
    busy = "" if server.busy_threads is None else f" with {server.busy_threads} busy threads"
    says = f"{server.label} used {figure(used)} CPUs{busy}"
    says += "" if allotted is None else f", told to have {allotted} workers times threads"
    if allotted in {None, 1} or len(server.process_cpu_s) == 1:
        return limits.check("W1", "behaviour", None, says, status="pass").about(server.label)
    uneven, why = _uneven(server, allotted or 1, limits)
    if uneven is None:
        says += f"; whether they shared the work is not known: {why}"
        return limits.check("W1", "behaviour", None, says).about(server.label)
    if limits["W1"].status(uneven) == "pass":
        says += f"; the busiest worker had {percent(uneven)} more than the mean"
    else:
        says += (
            f"; but the busiest worker had {percent(uneven)} more CPU than the mean: "
            "connections are not shared out evenly; use more of them"
        )
    return limits.check("W1", "behaviour", uneven, says).about(server.label)


def _uneven(server: Usage, allotted: int, limits: Thresholds) -> tuple[float | None, str]:
    """Return by what share the busiest of its workers is above their mean, or why it is unknown."""
    times = server.process_cpu_s
    if not times:
        return None, "the CPU time of each process was not seen"
    if len(times) < allotted:
        return None, f"it has {len(times)} processes, and which of them are workers is unknown"
    mean = fmean(times[:allotted])  # beside them there is one at most that does no work
    if mean < limits["W1"].number("least"):
        return None, f"{amount('s', mean)} of CPU each are too few to tell"
    return times[0] / mean - 1, ""


def _budgets(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Check:
    """W1: whether all were told to have as many workers and threads, or the suite says others."""
    allotted = {
        name: trials[0].workers.get(trials[0].case.server) for name, trials in sides.items()
    }
    silent = [
        name
        for name, trials in sides.items()
        if trials[0].case.server not in trials[0].workers_declared
    ]
    counts = {count for count in allotted.values() if count is not None}
    words = ", ".join(f"{name} {count or 'unknown'}" for name, count in allotted.items())
    value = float(max(counts) - min(counts)) if counts else None
    status: Status = "pass"
    says = f"workers times threads are {words}"
    if len(counts) > 1 and silent:
        status = "fail"
        says += f": different, and the suite does not say so of {', '.join(silent)}; let it say"
    elif None in allotted.values():
        status, value = "unknown", None
        says = f"whether all may use as much is not known: {says}"
    return _between(limits, value, says, status, "told")


def _used(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Check:
    """W1: whether all used as many CPUs."""
    used: dict[str, float] = {}
    for name, trials in sides.items():
        cpus = [cores(trial, usage) for trial in trials for usage in of_roles(trial, "server")]
        measured = [count for count in cpus if count is not None]
        if not measured or len(measured) < len(cpus):
            says = f"how many CPUs {name} used is not known"
            return _between(limits, None, says, None, "used")
        used[name] = fmean(measured)
    least, most = min(used.values()), max(used.values())
    words = ", ".join(f"{name} {figure(count)}" for name, count in used.items())
    if least <= 0:
        says = f"their CPU time is below what the kernel counts ({words})"
        return _between(limits, None, says, None, "used")
    says = f"CPUs used: {words}"
    if limits["W1"].status(most / least - 1) != "pass":
        says += ": some had more of the machine; compare CPU time per response too"
    return _between(limits, most / least - 1, says, None, "used")


def _between(
    limits: Thresholds, value: float | None, says: str, status: Status | None, of: str
) -> Check:
    return limits.check(
        "W1.used" if of == "used" else "W1", "behaviour", value, says, status=status
    ).about(of, scope="comparison")
