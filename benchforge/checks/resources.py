"""Workers, CPU, what the limit was, the backend and its encryption (W1 to W4)."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from benchforge.checks.limit import backend, limiter
from benchforge.checks.limits import Limits
from benchforge.checks.seen import NOT_OBSERVED, cores, of_roles, title, why_unknown
from benchforge.model.check import Check
from benchforge.model.observation import Usage
from benchforge.model.trial import Trial

_BUDGET = ("workers", "threads", "runtime_threads", "blocking_threads", "processes")
"Options of servers by which a suite varies how much of the machine they may use."


def of_trial(trial: Trial, limits: Limits) -> Iterator[Check]:
    """Yield what a measured trial shows."""
    yield workers(trial, limits)
    yield from limiter(trial, limits)
    yield from backend(trial, limits)


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Limits) -> Iterator[Check]:
    """Yield what speaks against comparing cases: the believed trials of each."""
    sides = [trials for trials in cases if trials]
    if len(sides) > 1:
        yield _budgets(sides, limits)
        yield _used(sides, limits)


def workers(trial: Trial, limits: Limits) -> Check:
    """W1: what the server was told to have and used, and whether its workers shared the work."""
    server = next(iter(of_roles(trial, "server")), None)
    if server is None:
        return limits.check("W1", "behaviour", None, f"what the server used: {NOT_OBSERVED}")
    used, told = cores(trial, server), trial.workers.get(trial.case.server)
    if used is None:
        says = why_unknown(server, "the CPU time")
        return limits.check("W1", "behaviour", None, says, of=server.label)
    busy = "" if server.busy_threads is None else f" with {server.busy_threads} busy threads"
    says = f"{server.label} used {used:.2f} CPUs{busy}"
    says += "" if told is None else f", told to have {told} workers times threads"
    uneven, why = _uneven(server, told, limits)
    if uneven is None:
        if told in {None, 1}:
            return limits.check("W1", "behaviour", None, says, status="pass", of=server.label)
        says += f"; whether they shared the work is not known: {why}"
        return limits.check("W1", "behaviour", None, says, of=server.label)
    if limits["W1"].status(uneven) == "pass":
        says += f"; the busiest worker had {uneven:.0%} more than the mean"
    else:
        says += (
            f"; but the busiest worker had {uneven:.0%} more CPU than the mean: connections are "
            "not shared out evenly; use more of them"
        )
    return limits.check("W1", "behaviour", uneven, says, of=server.label)


def _uneven(server: Usage, told: int | None, limits: Limits) -> tuple[float | None, str]:
    """Return by what share the busiest of its workers is above their mean, or why it is unknown."""
    times = server.process_cpu_s
    if told is None or told == 1:
        return None, ""
    if not times:
        return None, "the CPU time of each process was not seen"
    if len(times) < told:
        return None, f"it has {len(times)} processes, and which of them are workers is not told"
    mean = fmean(times[:told])  # beside them there is one at most that does no work
    if mean < limits["W1"].number("least"):
        return None, f"{mean:.2g} s of CPU each are too few to tell"
    return times[0] / mean - 1, ""


def _budgets(sides: Sequence[Sequence[Trial]], limits: Limits) -> Check:
    """W1: whether all were told to have as many workers and threads."""
    told = {title(trials): trials[0].workers.get(trials[0].case.server) for trials in sides}
    # Who varies a server's workers compares them on purpose.
    declared = any(_varies_budget(trials[0]) for trials in sides)
    counts = {count for count in told.values() if count is not None}
    words = ", ".join(f"{name} {count or 'not told'}" for name, count in told.items())
    spread = float(max(counts) - min(counts)) if counts else None
    if len(counts) > 1 and not declared:
        says = f"they were told to have different workers times threads ({words}): give all as many"
        return limits.check(
            "W1", "behaviour", spread, says, status="fail", scope="comparison", of="told"
        )
    if None in told.values():
        says = f"whether all may use as much is not known: workers times threads are {words}"
        return limits.check("W1", "behaviour", None, says, scope="comparison", of="told")
    says = f"workers times threads are {words}"
    return limits.check(
        "W1", "behaviour", spread, says, status="pass", scope="comparison", of="told"
    )


def _varies_budget(trial: Trial) -> bool:
    return any(
        path.startswith("servers.") and path.rpartition(".")[2] in _BUDGET
        for path in trial.case.vary
    )


def _used(sides: Sequence[Sequence[Trial]], limits: Limits) -> Check:
    """W1: whether all used as many CPUs."""
    used: dict[str, float] = {}
    for trials in sides:
        found = [cores(trial, one) for trial in trials for one in of_roles(trial, "server")]
        known = [one for one in found if one is not None]
        if not known or len(known) < len(found):
            says = f"how many CPUs {title(trials)} used is not known"
            return limits.check("W1", "behaviour", None, says, scope="comparison", of="used")
        used[title(trials)] = fmean(known)
    least, most = min(used.values()), max(used.values())
    words = ", ".join(f"{name} {count:.2f}" for name, count in used.items())
    if least <= 0:
        says = f"their CPU time is below what the kernel counts ({words})"
        return limits.check("W1", "behaviour", None, says, scope="comparison", of="used")
    says = f"CPUs used: {words}"
    if limits["W1"].status(most / least - 1) != "pass":
        says += ": some had more of the machine; compare CPU time per response too"
    return limits.check("W1", "behaviour", most / least - 1, says, scope="comparison", of="used")
