"""How servers ran: their mode, instruments, logs, interpreters, lives (D1 to D5, S7)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import PurePosixPath

from benchforge.checks import seen
from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import NOT_OBSERVED, of_roles, why_unknown
from benchforge.model.files.result import Header
from benchforge.model.suite.code import OWN, Interpreter
from benchforge.model.trial.check import Check, Status, Subject
from benchforge.model.trial.observation import Usage
from benchforge.model.trial.trial import StartedProcess, Trial
from benchforge.text.readable import amount, cut

_OF_DEVELOPERS = re.compile("werkzeug|wsgiserver", re.IGNORECASE)
"Flask's and Django's own servers, as they call themselves in the header Server."
_DEBUG, _INSTRUMENT, _TRACER = "debug: ", "instrument: ", "instrument: TracerPid"
_WAITS = "Task queue depth is "
"Of waitress's warning, which comes for each request that has no thread yet."
_LINE = 70


def of_trial(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield what a measured trial shows."""
    yield from development_mode(trial, limits)
    yield from instruments(trial, limits)
    yield from logging(trial, limits)


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Thresholds) -> Iterator[Check]:
    """Yield what speaks against comparing cases: the believed trials of each."""
    sides = seen.by_name(cases)
    if len(sides) <= 1:
        yield from seen.not_compared(cases, limits, "D3")
    elif not seen.of_one_server(sides):
        yield logging_between(sides, limits)


def development_mode(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """D1: whether a server runs as it does for its developers."""
    names = {answer.headers.get("server", "") for answer in trial.answers}
    if trial.reading is not None:
        names.add(trial.reading.server_software or "")
    suspects = sorted(name for name in names if _OF_DEVELOPERS.search(name))
    pages = (trial.probes.debug or ()) if trial.probes is not None else ()
    servers = seen.of_roles(trial, "server", "upstream")
    faults = [
        *(f"calls itself {name!r}: that one is for development; use another" for name in suspects),
        *(f"shows {page} to whoever asks for what is not there; switch that off" for page in pages),
    ]
    if not servers and not faults:
        says = f"whether it ran in a development mode: {seen.NOT_OBSERVED}"
        yield limits.check("D1", "behaviour", None, says)
    for fault in faults:
        says = f"the server {fault}"
        yield limits.check("D1", "behaviour", None, says, "fail").about(trial.case.server)
    for usage in servers:
        marks = usage.development_signs
        signs = [sign.removeprefix(_DEBUG) for sign in marks if sign.startswith(_DEBUG)]
        if signs:
            says = f"{usage.label} runs in a development mode ({', '.join(signs)}); switch that off"
            yield limits.check("D1", "behaviour", None, says, "fail").about(usage.label)
        elif not _looked_at(usage):
            says = seen.why_unknown(usage, "the mode")
            yield limits.check("D1", "behaviour", None, says).about(usage.label)
        elif not faults:
            says = f"nothing shows a development mode of {usage.label}"
            yield limits.check("D1", "behaviour", None, says, "pass").about(usage.label)


def instruments(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """D2: whether something traces or measures the processes; what an app imports is a warning."""
    services = seen.of_roles(trial, "server", "upstream", "backend")
    if not services:
        yield limits.check("D2", "behaviour", None, f"whether it was traced: {seen.NOT_OBSERVED}")
    for usage in services:
        signs, label = usage.development_signs, usage.label
        names = ", ".join(sign.partition(": ")[2] for sign in signs if not sign.startswith(_DEBUG))
        traced = any(sign.startswith(_TRACER) for sign in signs)
        status: Status = "pass" if _looked_at(usage) else "unknown"
        says = f"nothing shows an instrument in {label}"
        if traced:
            status, says = "fail", f"{label} is traced by another process ({names}); end that one"
        elif any(sign.startswith(_INSTRUMENT) for sign in signs):
            status = "fail"
            says = f"{label} carries an instrument ({names}): it is slower with it; remove it"
        elif names:
            status = "warn"
            says = f"{label} has loaded an instrument ({names}): whether it uses that is not known"
        elif status == "unknown":
            says = seen.why_unknown(usage, "whether something traced the processes")
        subject: Subject = "apparatus" if traced else "behaviour"
        yield limits.check("D2", subject, None, says, status).about(label)


def logging(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """D3: how much a server writes for each request."""
    servers = seen.of_roles(trial, "server", "upstream")
    if not servers:
        yield limits.check("D3", "behaviour", None, f"what it printed: {seen.NOT_OBSERVED}")
    for usage in servers:
        says = seen.why_unknown(usage, "what was printed and written to files")
        if (each := _printed(trial, usage)) is not None:
            says = f"{usage.label} wrote {amount('B', each)} a request to its logs and files"
        advice = _such_as(trial, usage)
        yield limits.advised("D3", "behaviour", each, says, advice).about(usage.label)


def logging_between(sides: Mapping[str, Sequence[Trial]], limits: Thresholds) -> Check:
    """D3: whether some write to logs for each request, and others do not."""
    most: dict[str, float] = {}
    lines: dict[str, str] = {}
    for name, trials in sides.items():
        printed = [
            (_printed(trial, usage), _such_as(trial, usage))
            for trial in trials
            for usage in seen.of_roles(trial, "server", "upstream")
        ]
        measured = [(each, line) for each, line in printed if each is not None]
        if not measured or len(measured) < len(printed):
            says = f"whether all log alike is not known: what {name} wrote is not"
            return limits.check("D3", "behaviour", None, says).about(scope="comparison")
        most[name], lines[name] = max(measured)
    value = max(most.values())
    logs = [name for name, each in most.items() if limits["D3"].status(each) != "pass"]
    if logs and len(logs) < len(most):
        others = ", ".join(name for name in most if name not in logs)
        says = f"{', '.join(logs)} writes to logs for each request and {others} does not"
        says += lines[logs[0]]
        return limits.check("D3", "behaviour", value, says, "fail").about(scope="comparison")
    says = f"{'all' if logs else 'none of them'} write to logs for each request"
    return limits.check("D3", "behaviour", value, says, "pass").about(scope="comparison")


def _such_as(trial: Trial, usage: Usage) -> str:
    line = usage.printed_line
    such = f", such as {cut(line, _LINE)!r}" if line else ""
    if _WAITS in line:
        at_once = trial.load and (trial.load.concurrency or trial.load.connections)
        needed = f"at least {at_once} threads" if at_once else "as many threads as connections"
        return f"{such}: requests wait for a thread, and it says so each time; give it {needed}"
    return f"{such}: a line for each request costs CPU; switch it off, or on for all"


def _looked_at(usage: Usage) -> bool:
    """Return True if signs were looked for: limits and signs are read at the same moment."""
    return usage.open_files_limit is not None and "signs" not in usage.why


def _printed(trial: Trial, usage: Usage) -> float | None:
    if usage.printed_bytes is None or trial.reading is None or not seen.requests(trial.reading):
        return None
    return usage.printed_bytes / seen.requests(trial.reading)


# In a label or a path: py312, python3.12, pypy3.9; a version alone: 3.12, 3.12.1.
_NAMED = re.compile(r"(?i)(?:py|python|pypy)[-_]?(?P<major>[23])\.?(?P<minor>\d{1,2})(?!\d)")
_ALONE = re.compile(r"\A(?P<major>[23])\.(?P<minor>\d{1,2})(?:\.\d+)?\Z")
_PYTHON = re.compile(r"(python|pypy)[\d.]*\Z", re.IGNORECASE)
_IDENTITY = attrgetter("real_path", "build", "packages")


def interpreters(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield D4 for each process that was to run on an interpreter: whether it did."""
    for process in trial.processes:
        if process.interpreter is not None:
            yield _of_process(process, process.interpreter, limits)


def _of_process(started: StartedProcess, meant: str, limits: Thresholds) -> Check:
    real, label = started.executable, started.label
    status: Status = "unknown"
    if real is None:
        says = f"on which interpreter {label} ran is not known: /proc hides it, or it had ended"
    elif real == meant:
        status, says = "pass", f"{label} ran on {meant}"
    elif not _PYTHON.search(PurePosixPath(real).name):
        says = f"{label} is {real}: which interpreter it holds is not known"
    else:
        status = "fail"
        says = f"{label} ran on {real}, not on {meant}: correct its command, or its runtime"
    return limits.check("D4", "apparatus", None, says, status).about(label)


def runtimes(header: Header, trials: Sequence[Trial], limits: Thresholds) -> Iterator[Check]:
    """Yield D4 for each runtime: whether it is what it is called, and no other under a new name."""
    del trials
    named = {label: interpreter for label, interpreter in header.runtimes.items() if label != OWN}
    for label, interpreter in named.items():
        status: Status = "pass"
        says = f"runtime {label} is {interpreter.implementation} {interpreter.version}"
        if fault := _otherwise(label, interpreter):
            status, says = "fail", f"{fault}: build it with the right one, or name it rightly"
        elif fault := _twice(label, named):
            status = "warn"
            says = f"{fault}: one is measured twice under two names; leave one out"
        yield limits.check("D4", "apparatus", None, says, status).about(label, "result")


def _otherwise(label: str, python: Interpreter) -> str:
    for text in (label, python.requested):
        for match in filter(None, (_ALONE.search(text), *_NAMED.finditer(text))):
            version = tuple(int(part) for part in python.version.split(".")[:2])
            if version != (int(match["major"]), int(match["minor"])):
                real = f"{python.implementation} {python.version} ({python.executable})"
                return f"runtime {label} is called {text}, and is {real}"
    return ""


def _twice(label: str, named: Mapping[str, Interpreter]) -> str:
    first = named[label]
    for other, interpreter in named.items():
        if other == label:
            return ""
        if first.real_path and _IDENTITY(interpreter) == _IDENTITY(first):
            return f"runtimes {other} and {label} are one and the same ({first.real_path})"
    return ""


def method(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield D5 of a client that has several ways; who takes another is measured by that one."""
    wanted = None if trial.load is None else trial.load.method
    if wanted is None:
        return
    ran = None if trial.reading is None else trial.reading.method
    driver = trial.case.driver
    status: Status = "fail"
    says = f"{driver} was to make its requests by {wanted}, and made them by {ran}: call it that"
    if ran is None:
        status = "unknown"
        says = f"{driver} did not tell by which of its ways it made its requests"
    elif ran == wanted:
        status, says = "pass", f"{driver} made its requests by {ran}"
    yield limits.check("D5", "behaviour", None, says, status).about(driver)


def restarts(trial: Trial, limits: Thresholds) -> Iterator[Check]:
    """Yield S7: whether processes of servers ended or began; backends may have one a connection."""
    servers = of_roles(trial, "server", "upstream")
    if not servers:
        yield limits.check("S7", "behaviour", None, f"whether it went on: {NOT_OBSERVED}")
    for usage in servers:
        ended, begun = usage.ended_processes, usage.new_processes
        count = None if ended is None or begun is None else max(ended, begun)
        status: Status | None = None
        says = f"all processes of {usage.label} lived through the load"
        if count is None:
            says = why_unknown(usage, "whether all processes lived through the load")
        elif ended:
            says = f"of the processes of {usage.label}, {ended} ended and {begun} began during the "
            says += "load: it crashed, or is set to begin anew after so many requests; see its log"
        elif begun:
            status = "warn"  # nothing crashed, and what it did counts
            says = f"of the processes of {usage.label}, none ended and {begun} began during the "
            says += "load: at first it had fewer workers; lengthen repeat.warmup"
        yield limits.check("S7", "behaviour", count, says, status).about(usage.label)
