"""Reasons for the speed of servers, as far as the CPU time of the trials tells."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from benchforge.plugin import CaseSummary, Role, Trial, readable, server_names

_MOST = 0.5  # of the CPU time: who takes more of it is what was measured
_BUSY = 0.5  # of a CPU: below it, what limits a server is not its CPU time
_FOREIGN = 0.1  # of the CPUs: where others use more, servers in turns waited for these
_ALL = 0.95  # of a server's CPU time in one process: the others did nothing
CpuByRole = Mapping[Role, float]
"CPU time in seconds, by role."


def explained(cases: Sequence[CaseSummary], trials: Sequence[Trial], *, differ: bool) -> list[str]:
    """Return where the CPU time went, as the reason if servers `differ`; empty if unknown."""
    names = server_names([case.case for case in cases])
    taken = {name: trials_that_count(case, trials) for name, case in zip(names, cases, strict=True)}
    costs = {server: cost(trials) for server, trials in taken.items()}
    spent = {server: cpu for server, cpu in costs.items() if cpu.get("server")}
    if len(spent) < len(cases):
        return []
    # Where others used the CPUs, servers waited for these.
    quiet = {name: _undisturbed(case, taken[name]) for name, case in zip(names, cases, strict=True)}
    used = {server: _cpus(quiet[server] or trials_) for server, trials_ in taken.items()}
    if max(used.values(), default=_BUSY) < _BUSY:
        alone = all(quiet.values()) and not any(map(_beside_others, quiet.values()))
        return [_waiting(used, differ=differ)] if alone else []
    busy = (_one_worker(server, trials_) for server, trials_ in taken.items())
    where = _where(spent)
    first = f"Why: {where}" if differ else where[0].upper() + where[1:]
    return [f"{text}." for text in (first, *busy) if text]


def trials_that_count(case: CaseSummary, trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that stand behind a case's numbers."""
    aside = {doubted.trial for doubted in case.doubted if not doubted.used}
    measured = [each for each in trials if each.measured and each.case.title == case.case.title]
    return [trial for trial in measured if trial.number not in aside]


def _undisturbed(case: CaseSummary, trials: Sequence[Trial]) -> list[Trial]:
    doubted = {doubted.trial for doubted in case.doubted}
    return [trial for trial in trials if trial.number not in doubted]


def shares(cpu: CpuByRole) -> CpuByRole:
    """Return which share of the CPU time each role took."""
    total = sum(cpu.values())
    return {role: seconds / total for role, seconds in cpu.items()} if total else {}


def _of_trial(trial: Trial) -> CpuByRole:
    if trial.observation is None or trial.reading is None or not trial.reading.responses:
        return {}
    by_role: dict[Role, float] = {}
    for usage in trial.observation.usage:
        if usage.cpu_s is None:
            return {}
        by_role[usage.role] = by_role.get(usage.role, 0.0) + usage.cpu_s
    return {role: cpu_s / trial.reading.responses for role, cpu_s in by_role.items()}


def cost(trials: Sequence[Trial], of_trial: Callable[[Trial], CpuByRole] = _of_trial) -> CpuByRole:
    """Return the CPU seconds that a response takes of each role, or another quantity: medians."""
    by_role: dict[Role, list[float]] = {}
    for trial in trials:
        for role, value in of_trial(trial).items():
            by_role.setdefault(role, []).append(value)
    return {role: median(values) for role, values in by_role.items()}


def _cpus(trials: Sequence[Trial]) -> float:
    used = [cpus for trial in trials if (cpus := _cpus_of(trial)) is not None]
    return median(used) if used else _BUSY


def _cpus_of(trial: Trial) -> float | None:
    """Return how many CPUs all parts used; in turns, in the slices of the server."""
    if trial.turns is not None:
        slices = trial.turns.slices
        return sum(slice_.cpu_s + slice_.loader_cpu_s for slice_ in slices) / trial.turns.seconds
    if trial.observation is None:
        return None
    return sum(usage.cpu_s or 0.0 for usage in trial.observation.usage) / trial.observation.seconds


def _beside_others(trials: Sequence[Trial]) -> bool:
    """Return whether others used CPUs in slices, which sets no trial in turns aside."""
    turns = [trial.turns for trial in trials if trial.turns is not None]
    used = [sum(slice_.foreign_cpu_s or 0.0 for slice_ in turn.slices) for turn in turns]
    shares = [cpu_s / (turn.seconds * turn.cpus) for cpu_s, turn in zip(used, turns, strict=True)]
    return bool(shares) and median(shares) > _FOREIGN


def _waiting(cpus: Mapping[str, float], *, differ: bool) -> str:
    shares = readable.conjoined(f"{100 * cpu:.0f} % with {server}" for server, cpu in cpus.items())
    idle = f"no CPU was busy ({shares}, load tool included)"
    text = f"Why: waiting, not computing: {idle}. benchforge cannot see what a server waits for."
    return text if differ else f"The servers mostly waited: {idle}."


def _where(costs: Mapping[str, CpuByRole]) -> str:
    """Return the role with most of the CPU time, or the CPU time of a response by server."""
    for role, who in (("backend", "the backend"), ("loader", "the load tool")):
        taken = [shares(cpu).get(role, 0.0) for cpu in costs.values()]  # type: ignore[call-overload]
        if min(taken) > _MOST:
            least, most = (f"{100 * share:.0f}" for share in (min(taken), max(taken)))
            share = least if least == most else f"{least} to {most}"
            return f"{share} % of the CPU time went to {who}, whichever server asked"
    times = readable.amounts("s", *(cpu["server"] for cpu in costs.values()))
    unit = times[-1].partition(" ")[2]
    each = [
        f"{time.partition(' ')[0]} {unit} in {name}"
        for name, time in zip(costs, times, strict=True)
    ]
    return f"CPU time of a response: {', '.join(each)}"


def _one_worker(server: str, trials: Sequence[Trial]) -> str:
    """Return that only one of several workers worked, in at least half of the trials."""
    idle = most = 0
    for trial in trials:
        workers = trial.workers.get(trial.case.server, 1)
        usages = () if trial.observation is None else trial.observation.usage
        times = [cpu_s for each in usages if each.role == "server" for cpu_s in each.process_cpu_s]
        if workers > 1 and len(times) >= workers and max(times) >= _ALL * sum(times) > 0:
            idle, most = idle + 1, max(most, workers)
    if not idle or idle < len(trials) / 2:
        return ""
    often = f"in {idle} of {readable.counted(len(trials), 'trial')}"
    return f"One worker of {server}'s {most} did all the work {often}"
