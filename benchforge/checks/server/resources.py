"""Workers, CPU, what the limit was, the backend and its encryption (W1 to W4)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from statistics import fmean

from benchforge.checks import seen
from benchforge.checks.limits import Thresholds
from benchforge.checks.machine import sharing
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.observation import Observation, Usage
from benchforge.model.trial.trial import Link, Trial
from benchforge.text.readable import amount, counted, figure, percent

_THREAD, _DISK = "a thread of", "waiting for the disk"
_WORDS: dict[str, str] = {
    "plain": "without TLS",
    "tls": "in TLS",
    "mixed": "in TLS and without",
    "none": "over no connection that was seen",
}
_ONE_REQUEST = "one request at a time: the limit is how long each takes, not what is used up"
_KEPT = 0.99
"An open loop that was answered at this share of its rate was not held back by anything."


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a measured trial shows."""
    yield workers(trial, limits)
    yield from limiter(trial, limits)
    yield from backend(trial, limits)


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield what speaks against comparing cases: the believed trials of each."""
    sides = seen.by_name(cases)
    if len(sides) > 1:
        yield _budgets(sides, limits)
        yield _used(sides, limits)
    else:
        yield from seen.not_compared(cases, limits, "W1")


def workers(trial: Trial, limits: Thresholds) -> Check:
    """W1: what the server was told to have and used, and whether its workers shared the work."""
    server = next(iter(seen.of_roles(trial, "server")), None)
    if server is None:
        return limits.check("W1", "behaviour", None, f"what the server used: {seen.NOT_OBSERVED}")
    used, allotted = seen.cores(trial, server), trial.workers.get(trial.case.server)
    if used is None:
        says = seen.why_unknown(server, "the CPU time")
        return limits.check("W1", "behaviour", None, says).about(server.label)
    busy = "" if server.busy_threads is None else f" with {server.busy_threads} busy threads"
    says = f"{server.label} used {figure(used)} CPUs{busy}"
    says += "" if allotted is None else f", told to have {allotted} workers times threads"
    if allotted in {None, 1} or len(server.process_cpu_s) == 1:
        return limits.check("W1", "behaviour", None, says, "pass").about(server.label)
    uneven, reason = _uneven(server, allotted or 1, limits)
    if uneven is None:
        says += f"; whether they shared the work is not known: {reason}"
    elif limits["W1"].status(uneven) == "pass":
        says += f"; the busiest worker had {percent(uneven)} more than the mean"
    else:
        says += f"; but the busiest worker had {percent(uneven)} more CPU than the mean: "
        says += "connections are not shared out evenly; use more of them"
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
    rows = {name: (trials[0], trials[0].case.server) for name, trials in sides.items()}
    allotted = {name: trial.workers.get(label) for name, (trial, label) in rows.items()}
    silent = [name for name, (trial, label) in rows.items() if label not in trial.workers_declared]
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
    return limits.check("W1", "behaviour", value, says, status).about("told", "comparison")


def _used(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Check:
    used: dict[str, float] = {}
    for name, trials in sides.items():
        cpus = [
            seen.cores(trial, usage) for trial in trials for usage in seen.of_roles(trial, "server")
        ]
        measured = [count for count in cpus if count is not None]
        if not measured or len(measured) < len(cpus):
            says = f"how many CPUs {name} used is not known"
            return limits.check("W1.used", "behaviour", None, says).about("used", "comparison")
        used[name] = fmean(measured)
    least, most = min(used.values()), max(used.values())
    words = ", ".join(f"{name} {figure(count)}" for name, count in used.items())
    apart, says = most / least - 1 if least > 0 else None, f"CPUs used: {words}"
    if apart is None:
        says = f"their CPU time is below what the kernel counts ({words})"
    advice = ": some had more of the machine; compare CPU time per response too"
    return limits.advised("W1.used", "behaviour", apart, says, advice).about("used", "comparison")


def limiter(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """W2: which resource was used up, of a load that goes as fast as it can.

    A server may use its CPUs, one for each of its workers, and the quota of its control group. One
    connection at a time uses up nothing: each part waits for the others.
    """
    reading, observation = trial.reading, trial.observation
    if reading is None or observation is None:
        yield limits.check("W2", "behaviour", None, f"what the limit was: {seen.NOT_OBSERVED}")
        return
    due = 0.0 if reading.schedule is None else reading.schedule.rate * reading.seconds
    if seen.users_think(trial) or (due and seen.requests(reading) >= _KEPT * due):
        return  # it was not to be any faster
    server = next(iter(seen.of_roles(trial, "server")), None)
    if server is None or server.cpu_s is None:
        reason = seen.NOT_OBSERVED if server is None else seen.why_unknown(server, "the CPU time")
        yield limits.check("W2", "behaviour", None, f"what the limit was is not known: {reason}")
        return
    if reading.process_s or (trial.load is not None and trial.load.connections == 1):
        yield limits.check("W2", "behaviour", None, _ONE_REQUEST, "pass")
        return
    shares = dict(_shares(trial))
    used_up = [name for name, share in shares.items() if share >= _full(name, limits)]
    used = ", ".join(f"{name} {percent(share)}" for name, share in shares.items())
    if used_up:
        says = f"used up: {', '.join(used_up)} ({used})"
        yield limits.check("W2", "behaviour", max(shares.values()), says, "pass")
        return
    if _others_filled(trial, limits):
        says = "what the limit was is not known: nothing was used up by the trial itself "
        says += f"({used}), and it waited for CPUs that others filled; give it a quiet machine"
        yield limits.check("W2", "behaviour", None, says)
        return
    says = (
        f"unexplained limit: nothing was used up ({used}); it may wait for locks, sleeps or a "
        "backend elsewhere, for a link that is full, or have too few connections: try more of them"
    )
    yield limits.check("W2", "behaviour", max(shares.values()), says, "warn")


def in_turns(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """W2 of a server in turns: one that used less than one CPU in all waited for something.

    Its CPU time includes that of its backends, which are frozen with it.
    """
    turns, server = trial.turns, trial.case.server
    if turns is None or seen.users_think(trial):
        return
    if trial.load is not None and trial.load.connections == 1:
        yield limits.check("W2", "behaviour", None, _ONE_REQUEST, "pass")
        return
    asked_s = sum(slice_.seconds - slice_.drained_s for slice_ in turns.slices)
    used = sum(slice_.cpu_s for slice_ in turns.slices) / asked_s if asked_s > 0 else 0.0
    others, says = sharing.foreign_share(trial), f"{server} used {percent(used)} of a CPU"
    if limits["W2.waits"].status(used) == "pass":
        backends = any(process.label.startswith("backend-") for process in trial.processes)
        sure = seen.cpus_of(trial, "server") == 1 and not backends
        says += "" if sure else ": whether a thread of it was always busy is not known"
    else:
        sure = others is not None and limits["N1"].status(others) == "pass"
        waited = "it waited for the load tool, or for something else; measure it with another"
        reason = f"what {server} waited for is not known: others used CPUs, too"
        says = f"{says}: {waited}" if sure else reason
    value = used if sure else None
    yield limits.check("W2.waits", "behaviour", value, says).about("waits")


def backend(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """W3: whether a backend was used up, so that it was measured and not the server."""
    advice = ": you measured the backend; give it more CPUs, or ask it for less"
    for usage in seen.of_roles(trial, "backend"):
        says = seen.why_unknown(usage, "the share of its CPUs")
        if (share := _of_backend(trial, usage)) is not None:
            says = f"{usage.label} used {percent(share)} of what it can"
        yield limits.advised("W3", "behaviour", share, says, advice).about(usage.label)


def _full(name: str, limits: Thresholds) -> float:
    if name == _DISK:
        return limits["N3.io"].fail or 0.0
    return limits["W2"].number("thread") if name.startswith(_THREAD) else limits["W2"].warn or 0.0


def _shares(trial: Trial) -> Iterator[tuple[str, float]]:
    for usage in seen.of_roles(trial, "server", "upstream"):
        yield from _of_server(trial, usage)
    for usage in seen.of_roles(trial, "backend"):
        if (share := _of_backend(trial, usage)) is not None:
            yield usage.label, share
    if trial.observation is not None and trial.observation.seconds:
        yield from _of_the_rest(trial.observation)


def _of_server(trial: Trial, usage: Usage) -> Iterator[tuple[str, float]]:
    used, quota = seen.cores(trial, usage), usage.quota_cpus
    workers = trial.workers.get(trial.case.server) if usage.role == "server" else None
    budget = min(filter(None, (seen.cpus_of(trial, usage.role), workers)), default=None)
    if used is not None and quota is not None and quota < (budget or 1):
        stops = counted(usage.throttled or 0, "time")
        name = f"the quota of {figure(quota)} CPUs of {usage.label}, which stopped it {stops},"
        yield name, used / quota
    elif used is not None:
        yield f"CPUs of {usage.label}", used / (budget or 1)
    if (hottest := _hottest(trial, usage)) is not None:
        yield f"{_THREAD} {usage.label}", hottest
    if usage.process_cpu_s and trial.reading is not None and _is_python(trial, usage):
        yield f"a Python process of {usage.label}", usage.process_cpu_s[0] / trial.reading.seconds


def _of_the_rest(observation: Observation) -> Iterator[tuple[str, float]]:
    for usage in observation.usage:
        if usage.role == "loader" and usage.busiest_thread_cpu_s is not None:
            yield f"{_THREAD} {usage.label}", usage.busiest_thread_cpu_s / observation.seconds
    times_s = [usage.cpu_s for usage in observation.usage]
    if observation.machine is not None and None not in times_s:  # of others' work N1 tells
        own_s = observation.sampler_cpu_s + (observation.unassigned_cpu_s or 0.0)
        own_s += sum(time_s for time_s in times_s if time_s is not None)
        yield "all CPUs together", own_s / observation.machine.cpus / observation.seconds
    if observation.machine is not None and "io.some" in observation.machine.pressure:
        yield _DISK, observation.machine.pressure["io.some"] / observation.seconds


def _others_filled(trial: Trial, limits: Thresholds) -> bool:
    observation, machine = trial.observation, seen.machine_of(trial)
    if not (observation and machine and observation.seconds) or machine.busy_s is None:
        return False
    if machine.busy_s / machine.cpus / observation.seconds < (limits["W2"].warn or 0.0):
        return False
    waited = (
        usage.cpu_wait_s / observation.seconds / max(1, usage.busy_threads or 1)
        for usage in observation.usage
        if usage.cpu_wait_s is not None
    )
    return any(limits["N2"].status(wait) != "pass" for wait in waited)


def _is_python(trial: Trial, usage: Usage) -> bool:
    """Return True if its threads take turns: then a process uses one CPU at most."""
    processes = (process for process in trial.processes if process.label == usage.label)
    names = (PurePath(process.executable or "").name for process in processes)
    return any(name.startswith(("python", "pypy")) for name in names)


def _hottest(trial: Trial, usage: Usage) -> float | None:
    if trial.reading is None or usage.busiest_thread_cpu_s is None:
        return None
    return usage.busiest_thread_cpu_s / trial.reading.seconds


def _of_backend(trial: Trial, usage: Usage) -> float | None:
    """Return the larger share: of its CPUs, or of one by its busiest thread."""
    used, cpus = seen.cores(trial, usage), seen.cpus_of(trial, "backend")
    if used is None or cpus is None:
        return None
    return max(used / min(cpus, usage.quota_cpus or cpus), _hottest(trial, usage) or 0.0)


def encryption(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield W4 for each backend that several cases have."""
    trials = [trial for trials_of_case in cases for trial in trials_of_case]
    for label in dict.fromkeys(label for trial in trials for label in _backends(trial)):
        spoken: dict[str, set[Link | None]] = {}
        for trial in trials:
            if label in _backends(trial):
                spoken.setdefault(trial.case.server, set()).add(trial.encryption.get(label))
        if len(spoken) > 1:
            yield _encrypted(label, spoken, limits)


def _backends(trial: Trial) -> list[str]:
    if trial.observation is None:
        return []
    backends = (usage.label for usage in trial.observation.usage if usage.role == "backend")
    return [label.removeprefix("backend-") for label in backends]


def _encrypted(label: str, spoken: dict[str, set[Link | None]], limits: Thresholds) -> Check:
    all_links = {link for links in spoken.values() for link in links}
    by_server = "; ".join(
        f"{server} {' or '.join(_WORDS[link] for link in sorted(filter(None, links)))}"
        for server, links in spoken.items()
    )
    if None in all_links:
        says = f"how {label} is spoken to was not seen of each server: packets could not be read"
        return limits.check("W4", "behaviour", None, says).about(label, "comparison")
    encrypts = {bool(links & {"tls", "mixed"}) for links in spoken.values()}
    says = f"{label} is spoken to {by_server}"
    if encrypts == {True, False} or "mixed" in all_links:
        says += ": encryption is compared too; let all do the same"
        return limits.check("W4", "behaviour", None, says, "fail").about(label, "comparison")
    return limits.check("W4", "behaviour", None, says, "pass").about(label, "comparison")
