"""The words that all forms of a result share."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from pydantic import JsonValue

from benchforge.plugin import (
    CaseSummary,
    Check,
    FailedTrial,
    Pivot,
    Summary,
    Trial,
    exposed,
    readable,
    titled,
)
from benchforge_reporters.text.cells import case_labels
from benchforge_reporters.text.standings import RANKS, ranked

_WORST = ("fail", "warn", "unknown")
SMOKE = "SMOKE: shows that everything works; the numbers mean nothing"
CELLS = "a cell is the geometric mean of trials [lowest\N{EN DASH}highest]; > means this or more"
"Where a trial has 0, it is their median: zero has no logarithm."
# Of the facts: what a reader wants to know first, and how it is said.
_MACHINE: Final = (
    ("cpu", "{}"),
    ("cpus_usable", "{} CPUs usable"),
    ("governor", "governor {}"),
    ("system", "{}"),
    ("kernel", "kernel {}"),
    ("python", "Python {}"),
)
_DUEL, _ENOUGH = "duel", 4  # blocks, the least that its suite plans
_NO_MORE = "allows no more"  # blocks


def of_all(summary: Summary) -> list[str]:
    """Return what was found in comparisons and in the whole result, the worst first."""
    checked = [*((check, "") for check in summary.checks), *_compared(summary)]
    findings = [(check, where) for check, where in checked if check.status != "pass"]
    findings.sort(key=lambda checks: (_WORST.index(checks[0].status), checks[0].id))
    return [
        f"{f'{check.status} {check.id} {check.name}'.strip()}{where}: {check.message}"
        for check, where in findings
    ]


def _compared(summary: Summary) -> Iterator[tuple[Check, str]]:
    """Yield the checks of each comparison, with what tells it from the others."""
    several = len({(each.scenario, each.driver) for each in summary.comparisons}) > 1
    for comparison in summary.comparisons:
        where = [*filter(None, (comparison.scenario, comparison.driver))] if several else []
        where += [f"{path.rpartition('.')[2]}={value}" for path, value in comparison.vary.items()]
        name = f", {'; '.join(where)}" if where else ""
        yield from ((check, name) for check in comparison.checks)


def in_short(cases: Iterable[CaseSummary]) -> str:
    """Return the ids of what kept numbers from being believed; empty where all are believed."""
    trials = (trial for case in cases for trial in case.doubted if trial.used)
    checks = (check for trial in trials for check in trial.checks)
    return ", ".join(dict.fromkeys(f"{check.id} {check.name}" for check in checks))


def heading(summary: Summary) -> str:
    """Return the first line: the suite, and whether its numbers mean anything."""
    title = f"{summary.name}: {summary.title}" if summary.title else summary.name
    return f"{title} \N{EM DASH} {SMOKE}" if summary.smoke else title


def environment(summary: Summary) -> list[tuple[str, str]]:
    """Return the versions, interpreters, packages and facts of the machine: names and values."""
    rows = list(summary.versions.items())
    for label, each in summary.runtimes.items():
        program = f"{each.implementation} {each.build}; {each.executable}"
        rows.append((f"interpreter {label}", program))
    for label, each in summary.runtimes.items():
        if packages := ", ".join(map(" ".join, each.packages.items())):
            rows.append((f"packages of {label}", packages))
    return rows + [(name, _fact(fact)) for name, fact in summary.facts.items()]


def interpreters(summary: Summary) -> str:
    """Return the interpreter of each runtime; empty if the suite declares none."""
    runtimes = summary.runtimes if summary.runtimes.keys() - {"benchforge"} else {}
    texts = {label: f"{each.implementation} {each.version}" for label, each in runtimes.items()}
    return ", ".join(f"{label} is {text}" for label, text in texts.items())


def code(summary: Summary) -> str:
    """Return the commit of each server's code; empty if none is in a repository."""
    return "; ".join(f"{each.server}: {each.in_words}" for each in summary.code)


def made(summary: Summary, trials: Sequence[Trial]) -> list[tuple[str, str]]:
    """Return how the result was made: names and values, by which a reader judges its validity."""
    cases = with_placebos(summary)
    measured = sum(case.trials for case in cases)
    planned = sum(case.planned for case in cases)
    failed = sum(len(case.failed) for case in cases)
    at_most = "at most " if summary.searches else ""
    blocks = {
        *(failure.block for case in cases for failure in case.failed),
        *(sample.block for case in cases for line in case.metrics for sample in line.samples),
        *(attempt.round for case in cases if case.capacity for attempt in case.capacity.attempts),
    }
    facts = summary.facts
    machine = [form.format(_fact(facts[name])) for name, form in _MACHINE if name in facts]
    rows = [
        ("measured", f"{summary.created:%Y-%m-%d %H:%M %Z}".rstrip()),
        ("by", f"benchforge {summary.benchforge}"),
        ("profile", summary.profile or "none"),
        ("seed", str(summary.seed)),
        ("trials", f"{measured} of {at_most}{planned} planned, {failed} failed"),
        ("blocks", amount(summary) or str(len(blocks))),
    ]
    verdicts = filter(None, (item.verdict for item in summary.comparisons))
    rows += [("in turns", text) for text in {verdict.bias for verdict in verdicts} - {""}]
    rows += [("placebo", text) for text in placebos(summary)]
    rows += [("resumed", text) for text in resumed(summary, trials)]
    more = {"runtimes": interpreters(summary), "code": code(summary)}
    more |= {"machine": ", ".join(machine), "secrets": exposed(trials)}
    return [*rows, *((name, text) for name, text in more.items() if text), *placed(trials)]


def placed(trials: Sequence[Trial]) -> list[tuple[str, str]]:
    """Return the hosts and CPUs of the parts, and the outcome of the tuning."""
    texts = {"hosts": hosts(trials), "CPUs": placement(trials), "tuning": tuning(trials)}
    return [(name, text) for name, some in texts.items() for text in some]


def order(summary: Summary) -> str:
    """Return what the order of servers means."""
    plain = "nothing here is called a winner: this shows every trial's value and the spread"
    return RANKS if ranked(summary) else plain


def scope(summary: Summary) -> str:
    """Return the scope of the intervals; empty if the result has none."""
    text = "Intervals and verdicts are about this machine on this day: another machine may differ."
    return text if summary.verdicts or ranked(summary) else ""


def amount(summary: Summary) -> str:
    """Return after how many blocks it was enough, or was not; empty where they were given."""
    if (decision := summary.stop_decision) is None:
        return ""
    if not calm(summary):
        longer = f"{_NO_MORE} (with a longer --time, duel does)"
        return decision.in_words.replace(_NO_MORE, longer if summary.name == _DUEL else _NO_MORE, 1)
    return decision.in_words.replace("not enough after", "the run ended after", 1)


def calm(summary: Summary) -> bool:
    """Return whether a run that ended before its plan needs no alarm.

    Either all that it asks is decided, or it is a duel with the blocks that wide intervals take.
    """
    states = {each.verdict.state for each in summary.comparisons if each.verdict is not None}
    undecided = any(verdict.state == "inconclusive" for verdict in summary.verdicts)
    if states == {"decided"} and not undecided:
        return True
    decision = summary.stop_decision
    if summary.name != _DUEL or decision is None or decision.stop:
        return False
    return decision.half_width is not None and decision.blocks >= _ENOUGH


def placebos(summary: Summary) -> list[str]:
    """Return the ratio of each placebo, and whether it differs too much from 1."""
    return [
        check.message if check.status == "pass" else f"{check.status.upper()}: {check.message}"
        for check in summary.checks
        if check.topic == "placebo"
    ]


def with_placebos(summary: Summary) -> list[CaseSummary]:
    """Return the cases, and the second measurement of each placebo."""
    return [*summary.cases, *(placebo.repeated for placebo in summary.placebos)]


def hosts(trials: Sequence[Trial]) -> list[str]:
    """Return which parts ran on which host; nothing where all ran on benchforge's machine."""
    parts: dict[str, dict[str, None]] = {}
    for trial in trials:
        for label, host in trial.hosts.items():
            named = (part.replace("-", " ", 1) for part in host.parts)
            parts.setdefault(label, {}).update(dict.fromkeys(named))
    each = (f"{label} ran {readable.conjoined(list(ran))}" for label, ran in parts.items())
    return ["; ".join(each)] if parts else []


def placement(trials: Sequence[Trial]) -> list[str]:
    """Return the CPUs of each role; empty if all could use all."""
    placements = (trial.placement for trial in trials if trial.placement is not None)
    return list(dict.fromkeys(placement.in_words for placement in placements))


def resumed(summary: Summary, trials: Sequence[Trial]) -> list[str]:
    """Return which trials were measured later: a text for each later session that has any."""
    ends = [*(session.first_trial for session in summary.sessions[1:]), math.inf]
    numbers = [trial.number for trial in trials]
    texts: list[str] = []
    for session, end in zip(summary.sessions, ends, strict=False):
        if within := [number for number in numbers if session.first_trial <= number < end]:
            first, last = min(within), max(within)
            which = f"trial {first}" if first == last else f"trials {first} to {last}"
            when = f"{session.started:%Y-%m-%d %H:%M %Z}".rstrip()
            texts.append("; ".join([f"{which} on {when}", *session.differences]))
    return texts


def tuning(trials: Sequence[Trial]) -> list[str]:
    """Return the outcome of the suite's tuning: one text, or one for each with its trials."""
    outcomes: dict[str, list[str]] = {}
    for trial in trials:
        if trial.tuning is not None:
            outcomes.setdefault(trial.tuning.in_words, []).append(str(trial.number))
    if len(outcomes) == 1:
        return list(outcomes)
    return [f"{outcome} (trials {', '.join(numbers)})" for outcome, numbers in outcomes.items()]


def incomplete(summary: Summary) -> str:
    """Return that measurements are missing; with `until`, why the run ended too soon."""
    decision = summary.stop_decision
    if decision is None or decision.stop:
        return "NOT COMPLETE: some of the planned measurements have no trial"
    blocks = readable.counted(decision.blocks, "block")
    return f"NOT COMPLETE: the run ended after {blocks}: {decision.why}"


def alarms(summary: Summary, *, doubts: bool = True) -> list[str]:
    """Return the alarms; with the trials that cannot be believed, if `doubts`."""
    failed = sum(len(lost(case)) for case in with_placebos(summary))
    elsewhere = "RESUMED ELSEWHERE: not all trials had the same machine and programs"
    placebos = [check for check in summary.checks if check.topic == "placebo"]
    texts = [
        SMOKE if summary.smoke else "",
        incomplete(summary) if not summary.complete and not calm(summary) else "",
        elsewhere if any(session.differences for session in summary.sessions) else "",
        *(f"PLACEBO: {check.message}" for check in placebos if check.status == "fail"),
        doubted(summary) if doubts else "",
        f"FAILED TRIALS: {failed}; they have no measurement" if failed else "",
    ]
    return [text for text in texts if text]


def requested(cases: Sequence[CaseSummary], trials: Sequence[Trial]) -> str:
    """Return the requests of a scenario, and its drivers."""
    names = {case.case.scenario for case in cases}
    of_names = [trial for trial in trials if trial.case.scenario in names]
    by_server: dict[str, dict[str, None]] = {}
    for trial in of_names:
        request = f"{trial.request.method} {trial.request.path}"
        by_server.setdefault(trial.case.server, {})[request] = None
    requests = [request for sent in by_server.values() for request in sent]
    if len(set(requests)) > 1 and len(requests) == len(by_server):  # each has one of its own
        requests = [f"{server}: {request}" for server, (request,) in by_server.items()]
    sent = [trial.stream for trial in of_names if trial.stream]
    kinds = {kind for stream in sent for kind in stream.kinds}
    mixed = [f"{len(kinds)} kinds of requests"] if len(kinds) > 1 else dict.fromkeys(requests)
    drivers = [case.case.driver for case in cases]
    firsts = (trial.answers[0] for trial in of_names if trial.answers)
    coded = next((f"; answers: {first.sent}" for first in firsts if first.decoded is not None), "")
    return f"{', '.join(mixed)} by {', '.join(dict.fromkeys(drivers))}{coded}".strip()


def sought(summary: Summary, cases: Sequence[CaseSummary]) -> list[str]:
    """Return the goal of a scenario's searches; empty without one."""
    finds = (summary.searches.get(case.case.scenario) for case in cases[:1])
    return [find.says for find in finds if find is not None]


def _fact(fact: JsonValue) -> str:
    if fact is None:
        return "unknown"
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if isinstance(fact, float):
        return readable.figure(fact)
    if isinstance(fact, list):
        return ", ".join(map(_fact, fact))
    return fact if isinstance(fact, str) else json.dumps(fact)


def notes(cases: Sequence[CaseSummary]) -> list[str]:
    """Return what the checks found, each with the case that it is about; unknown ones last."""
    named_cases = zip(names(cases), cases, strict=True)
    return [f"{name}: {note}" for name, case in named_cases for note in case.notes]


def doubted(summary: Summary) -> str:
    """Return which cases have numbers that are not to be believed, and why; empty if none."""
    doubtful = (case for case in summary.cases if (case.believed or 0) < case.trials)
    cases = [case for case in doubtful if case.believed is not None and not _set_aside(case)]
    noisy = [case for case in cases if all(trial.disturbed for trial in case.doubted if trial.used)]
    others = [case for case in cases if case not in noisy]
    sentences = []
    if others:
        which = f"{_have(others, summary)} numbers that are not to be believed"
        sentences.append(f"NOT BELIEVED: {which}: {in_short(others)}")
    if noisy:
        which = f"{_have(noisy, summary)} values of trials that others disturbed"
        sentences.append(f"DISTURBED: {which}: {in_short(noisy)}")
    return "; ".join(sentences)


def _have(cases: Sequence[CaseSummary], summary: Summary) -> str:
    number = len(cases)
    total = readable.counted(len(summary.cases), "case")
    return f"{number} of {total} {'has' if number == 1 else 'have'}"


def _set_aside(case: CaseSummary) -> bool:
    """Return whether no doubtful trial of a search is part of what it found."""
    if case.capacity is None:
        return False
    attempts = {attempt.trial for attempt in case.capacity.attempts}
    return attempts.isdisjoint(trial.trial for trial in case.doubted)


def of_each(
    cases: Sequence[CaseSummary],
    trials: Sequence[Trial],
    sentences: Callable[[Sequence[Trial]], Iterable[str]],
) -> list[str]:
    """Return sentences on the trials of each case, after the name of the case."""
    return [
        f"{name}, {sentence}"
        for name, case in zip(names(cases), cases, strict=True)
        for sentence in sentences([trial for trial in trials if trial.case == case.case])
    ]


def estimators(cases: Sequence[CaseSummary]) -> list[str]:
    """Return how the values of each trial were formed, if they are statistics themselves."""
    estimators_by_title: dict[str, dict[str, None]] = {}
    for line in (line for case in cases for line in case.metrics if line.estimator):
        title = titled(line.metric, line.of)
        estimators_by_title.setdefault(title, {})[line.estimator or ""] = None
    return [f"{title}: {'; or: '.join(formed)}" for title, formed in estimators_by_title.items()]


def lost(case: CaseSummary) -> list[FailedTrial]:
    """Return the failed trials of a case whose blocks have no measurement of another attempt."""
    measured = {sample.block for line in case.metrics for sample in line.samples}
    return [failure for failure in case.failed if failure.block not in measured]


def failures(cases: Sequence[CaseSummary]) -> Iterator[tuple[str, FailedTrial]]:
    """Yield each trial that has no measurement, with one line that says which and why."""
    for name, case in zip(names(cases), cases, strict=True):
        for failed in case.failed:
            attempt = f", attempt {failed.attempt}" if failed.attempt > 1 else ""
            where = f"trial {failed.trial} (block {failed.block}{attempt})"
            failure = failed.failure
            yield f"{where} of {name} failed: {failure.stage}: {failure.message}", failed


def drawn(label: str, pivot: Pivot) -> tuple[str, str]:
    """Return the title of a table of the suite, and what is drawn there of which cases."""
    conditions = [
        f"{axis} is {' or '.join(v if isinstance(v, str) else json.dumps(v) for v in values)}"
        for axis, values in pivot.where.items()
    ]
    where = f", where {' and '.join(conditions)}" if conditions else ""
    subject = f"{', '.join(pivot.metrics)} of {', '.join(pivot.scenarios)}{where}"
    return pivot.title or label, subject


def names(cases: Sequence[CaseSummary]) -> list[str]:
    """Return for each case the server, and what else tells it from the others."""
    labels = case_labels(cases)
    heads = ["", *(f"{head} " for head in labels.heads[1:])]
    pairs = [zip(heads, row, strict=True) for row in labels.rows]
    return [", ".join(f"{head}{word}" for head, word in row) for row in pairs]
