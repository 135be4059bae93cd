"""Headroom of a load tool: its rate against that from the null server (L2)."""

from collections.abc import Iterator, Mapping, Sequence

from benchforge.checks.limits import Thresholds
from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.result import Header
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import Trial
from benchforge.text.readable import figure, percent

BEYOND = 1.1
"So much above a ceiling, it was none: it was measured too low."
_ALIKE_BYTES, _ALIKE = 1024, 0.1
_WORST: tuple[Status, ...] = ("pass", "unknown", "warn", "fail")


def of_session(
    header: Header, trials: Sequence[Trial], ceilings: Sequence[Ceiling], limits: Thresholds
) -> Iterator[Check]:
    """Yield what each case's largest throughput is of its load tool's; of several, the worst.

    Clients are what is measured. Tools of processes and searches have no ceiling either (see L4).
    """
    without: set[str] = set()
    for case in header.cases:
        if case.scenario in header.searches:
            continue
        measured = (trial for trial in trials if trial.case == case and trial.measured)
        by_tools = (trial for trial in measured if trial.driver_digest != "")
        fastest = max(by_tools, key=_per_second, default=None)
        if fastest is None or (fastest.reading is not None and fastest.reading.process_s):
            continue
        checks = [_of_tool(header, fastest, host, ceilings, limits) for host in by_tool(fastest)]
        worst = max(checks, key=lambda check: _WORST.index(check.status))
        if worst.component not in without:
            yield worst
        without |= {worst.component} & {case.driver}


def by_tool(trial: Trial) -> Mapping[str, Trial]:
    """Return a trial as each of its load tools made it, by their hosts; "" is our own machine."""
    hosts = {host: trial.hosts[host].reading or trial.reading for host in _tools_of(trial)}
    return {host: trial.like(reading=reading) for host, reading in hosts.items()} or {"": trial}


def is_of(ceiling: Ceiling, trial: Trial, host: str) -> bool:
    """Return True if a ceiling is that of a trial's load tool on a host, with its server's host."""
    servers, theirs = (it.hosts_of(f"server-{it.case.server}") for it in (trial, ceiling.trial))
    return (
        trial.driver_digest not in {None, ""}
        and trial.driver_digest == ceiling.trial.driver_digest
        and (host, len(_tools_of(trial)) or 1) == (ceiling.host, ceiling.shares)
        and servers == theirs
    )


def _tools_of(trial: Trial) -> tuple[str, ...]:
    return trial.hosts_of(f"loader-{trial.case.driver}")


def fits(ceiling: Ceiling, trial: Trial, host: str) -> bool:
    """Return True if a ceiling is of a trial's load tool, and of answers of about its size."""
    return is_of(ceiling, trial, host) and _alike(answered(trial), ceiling.body_bytes)


def answered(trial: Trial) -> int:
    """Return the length of the answer's body, in bytes."""
    return trial.answers[-1].length if trial.answers else 0


def nearest(trial: Trial, host: str, ceilings: Sequence[Ceiling]) -> Ceiling | None:
    """Return the ceiling of a trial's load tool whose answers are nearest to its own in size."""
    candidates = [ceiling for ceiling in ceilings if is_of(ceiling, trial, host)]
    measured = [ceiling for ceiling in candidates if ceiling.per_second is not None] or candidates
    length = answered(trial)
    return min(measured, key=lambda ceiling: abs(ceiling.body_bytes - length), default=None)


def _alike(length: int, other: int) -> bool:
    return abs(length - other) <= max(_ALIKE_BYTES, _ALIKE * other)


def _per_second(trial: Trial) -> float:
    """Responses per second, or the rate that was asked for."""
    reading = trial.reading
    if reading is None:
        return 0.0
    if reading.schedule is not None:
        return reading.schedule.rate
    return reading.responses / reading.seconds


def _of_tool(
    header: Header, trial: Trial, host: str, ceilings: Sequence[Ceiling], limits: Thresholds
) -> Check:
    ceiling, tool = nearest(trial, host, ceilings), trial.case.driver
    component = f"{tool} on {host}" if host else tool
    if ceiling is not None and ceiling.per_second is not None:
        return _check(component, by_tool(trial)[host], ceiling, ceiling.per_second, limits)
    says = f"load tool {component}: what it can do at most {_why_none(header, ceiling)}"
    return limits.check("L2", "apparatus", None, says).about(tool, "result")


def _check(tool: str, trial: Trial, ceiling: Ceiling, most: float, limits: Thresholds) -> Check:
    share = _per_second(trial) / most
    status: Status = limits["L2"].status(share)
    length = answered(trial)
    alike = _alike(length, ceiling.body_bytes)
    # Longer answers, or encrypted ones, are more work for the tool: its ceiling is lower with them.
    harder = trial.url.startswith("https:") or (not alike and length > ceiling.body_bytes)
    easier = not alike and length < ceiling.body_bytes
    floor = ceiling.only_a_floor or _full_link(ceiling)
    floor = floor or ("it was faster here" if share > BEYOND else "")
    reason = ""
    if status == "pass" and harder:
        status, reason = "unknown", "answers that are longer or encrypted are more work than that"
    elif status != "pass" and (easier or floor):
        status, reason = "unknown", floor or "shorter answers are less work than that"
    who = f"{tool} was asked for" if trial.reading and trial.reading.schedule else f"{tool} made"
    says = f"{who} {figure(_per_second(trial))} requests/s, {percent(share)} of the "
    says += f"{figure(most)} that it gets from a server that does nothing{_meaning(status, reason)}"
    return limits.check("L2", "apparatus", share, says, status).about(trial.case.title, "result")


def _full_link(ceiling: Ceiling) -> str:
    full = any(check.id == "H3" and check.status != "pass" for check in ceiling.trial.checks)
    return "the link between the hosts may have been the limit then" if full else ""


def _meaning(status: Status, reason: str) -> str:
    more = "give it more threads or connections, or take a faster one"
    meanings: dict[Status, str] = {
        "unknown": f"; what it could do at most is not known: {reason}; see L1 for its CPU",
        "warn": ": it is near its limit; give it more threads, or take a faster one",
        "fail": f": the load tool, not the server, was the limit; {more}",
    }
    return meanings.get(status, "")


def _why_none(header: Header, ceiling: Ceiling | None) -> str:
    if header.smoke:
        return "is not looked for in a smoke: run it without that profile"
    if ceiling is None:
        reason = "that may take 5 % of the run, and the run is too short"
        return f"was not measured: {reason}; take more blocks, or longer loads"
    failure = ceiling.trial.failure
    message = failure.message if failure is not None else "it had no response"
    return f"could not be measured: {message}"
