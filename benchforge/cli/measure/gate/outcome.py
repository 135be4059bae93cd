"""Outcomes of a gate: a verdict on each pair, other changes, and the exit code."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from benchforge.checks.machine.calibrated import limits_of
from benchforge.checks.summary import evidence_in
from benchforge.cli.measure.gate.pairs import base_label, renamed
from benchforge.cli.measure.gate.verdict import RULE, STATES, SpeedVerdict, State, judge, waiver_of
from benchforge.model.files.folder import ANSWER
from benchforge.model.suite.claim import Waiver
from benchforge.model.summary.doubts import disturbed, doubted
from benchforge.model.summary.summary import CaseSummary, MetricSummary, Summary
from benchforge.model.summary.verdict import Estimate
from benchforge.model.trial.answers.answer import excerpts
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.units import RATE, titled
from benchforge.parts.content import LARGEST_FILE
from benchforge.results.conclude import Summed
from benchforge.run.disk.result_writer import ResultWriter
from benchforge.stats.inference.hodges_lehmann import paired, ratio
from benchforge.stats.inference.stopping import guarded
from benchforge.stats.summary.line import Place, by_place, left_to, levelled_places
from benchforge.stats.turns import explained
from benchforge.stats.verdict.comparison import ComparisonEvidence, wrong_answers
from benchforge.text import door


def changes(
    head: CaseSummary, base: CaseSummary, evidence: ComparisonEvidence, result: Summed
) -> tuple[str, ...]:
    """Return the differences of the working tree from its base, a sentence each."""
    answers = [*_bodies(head, base, result)]
    others = (*evidence.grave, *evidence.unlike)
    return (*answers, *(text for text in others if not (answers and text.endswith("(E3)"))))


def _bodies(head: CaseSummary, base: CaseSummary, result: Summed) -> Iterator[str]:
    sides = [_stable(case, result) for case in (base, head)]
    if None in sides:
        return
    old, new = (_body(trial, result) for trial in sides if trial is not None)
    if old is not None and new is not None and old != new:
        earlier, later = excerpts(old, new)
        yield f"the response changed: the base sent {earlier}, the working tree {later}"


def _stable(case: CaseSummary, result: Summed) -> Trial | None:
    """Return the first trial of a case that has the same answer to each single request."""
    for trial in result.trials:
        if trial.case == case.case and trial.probes is not None:
            return trial if trial.probes.distinct == 1 else None
    return None


def _body(trial: Trial, result: Summed) -> bytes | None:
    try:
        folder = ResultWriter(result.path).place(trial.number).relative_to(result.path)
        return door.read(result.path, str(folder / ANSWER), LARGEST_FILE)
    except OSError:
        return None


class GatedPair(NamedTuple):
    """A pair, with its verdict."""

    scenario: str
    "Label in the suite."
    case: CaseName
    "Case of the working tree, as the gate measured it."
    metric: str
    verdict: SpeedVerdict
    in_turns: bool
    waiver: Waiver | None
    "Waiver that holds today. It allows a slower server, and no broken one."
    expired: Waiver | None
    changed: tuple[str, ...] = ()
    "Differences between the answers or the work of both sides: they decide nothing."
    crowded: str = ""
    "Use of the CPUs by others, because of which nobody may quote its change; else empty."
    tolerated: bool = False
    "True if an interval that decides nothing passes."

    @property
    def title(self) -> str:
        """For a person: scenario, server, load tool and varied options."""
        return self.case.model_copy(update={"scenario": self.scenario}).title

    @property
    def waived(self) -> str:
        """Its waiver in words; empty without one."""
        if self.waiver is not None:
            until = f", until {self.waiver.until}" if self.waiver.until else ""
            return f"(waived: {self.waiver.reason}{until})"
        return "" if self.expired is None else f"(its waiver ended on {self.expired.until})"

    @property
    def passes(self) -> bool:
        """True if nothing is slower or broken by the change, or a waiver allows it."""
        if self.verdict.state in {"not slower", "base broken"} or self.passes_undecided:
            return True
        return self.waiver is not None and self.verdict.state != "broken"

    @property
    def passes_undecided(self) -> bool:
        """True if it is undecided and passes without a waiver. Without an interval none does."""
        undecided = self.verdict.state == "undecided" and self.verdict.low is not None
        return self.tolerated and undecided and self.waiver is None


class Outcome(NamedTuple):
    """All that a gate says."""

    base: str
    "Description of the base."
    head: str
    limit: float
    level: float
    "Level of each interval."
    questions: tuple[GatedPair, ...]
    notes: tuple[str, ...]
    "Sentences on pairs left out, and on how the others were measured."
    result: str = ""
    "Folder of the result; empty if nothing was measured."
    same: bool = False
    "True if both have the same code and packages, so that nothing was measured."

    @property
    def state(self) -> State:
        """The worst of all verdicts that no waiver allows; invalid if nothing is compared."""
        if not self.questions and not self.same:
            return "invalid"
        states = {
            pair.verdict.state
            for pair in self.questions
            if not pair.passes or pair.passes_undecided or pair.verdict.state == "base broken"
        }
        worst: Sequence[State] = [state for state in STATES if state in states]
        return worst[0] if worst else "not slower"

    @property
    def exit_code(self) -> int:
        """1 if something is broken or slower, else 4 if something has no answer, else 0."""
        tolerated = bool(self.questions) and all(pair.passes for pair in self.questions)
        return 0 if tolerated else STATES[self.state].exit_code


def questions_of(
    result: Summed,
    origins: Mapping[str, str],
    limit: float,
    waivers: Sequence[Waiver],
    questions: int,
) -> tuple[GatedPair, ...]:
    """Return the verdict on each pair; `questions` is the number of the gate's pairs."""
    summary = result.summary
    judged = []
    assert result.header is not None  # noqa: S101 - a gate has measured it
    limits = limits_of(result.header)
    for comparison in summary.comparisons:
        evidence = evidence_in(comparison, summary, limits)
        for head, base in heads(summary.cases_of(comparison)):
            metric, verdict = _judged(head, base, evidence, limit, questions)
            origin = origins.get(head.case.scenario, head.case.scenario)
            waiver, expired = waiver_of(waivers, origin, head.case.server)
            changed: tuple[str, ...] = ()
            if base is not None and verdict.state not in {"broken", "base broken"}:
                changed = changes(head, base, evidence, result)
            allowed = head.in_turns, waiver, expired
            crowded = comparison.verdict.crowded if comparison.verdict and _is_rate(head) else ""
            judged.append(GatedPair(origin, head.case, metric, verdict, *allowed, changed, crowded))
    return tuple(judged)


def _judged(
    head: CaseSummary,
    base: CaseSummary | None,
    evidence: ComparisonEvidence,
    limit: float,
    questions: int,
) -> tuple[str, SpeedVerdict]:
    """Return the title of the metric and the verdict, which holds with others levelled out, too."""
    if broken := _broken(head, base):
        return "", broken
    if base is None:
        return "", SpeedVerdict("invalid", why="the base was not measured")
    if reason := _why_none(head, base) or "; ".join(evidence.spoiled):
        return "", SpeedVerdict("invalid", why=reason)
    pair = _ratios(head, base)
    if pair is None:
        return "", SpeedVerdict("undecided", why="no block was measured in the time")
    line, plain, levelled = pair
    rate = None if head.load is None else head.load.rate
    if rate is not None and line.measurand == RATE:
        reason = f"the load has a fixed rate, so its {line.metric} says nothing: set `metrics`"
        return "", SpeedVerdict("invalid", why=reason)
    title = titled(line.metric, line.of)
    judged = partial(judge, better=line.better, limit=limit, questions=questions)
    verdict = judged(plain)
    if judged(levelled).state != verdict.state:
        reason = "other processes left one side more of the CPUs"
        verdict = verdict._replace(state="undecided", why=reason)
    return title, verdict


def _broken(head: CaseSummary, base: CaseSummary | None) -> SpeedVerdict | None:
    """Return that a side answered wrongly; a wrong base decides nothing of a right head."""
    if wrong := next(wrong_answers(head), ""):
        return SpeedVerdict("broken", why=wrong)
    wrong = "" if base is None else next(wrong_answers(base), "")
    if not wrong:
        return None
    if not head.trials:
        reason = f"the base is broken ({wrong}), and the working tree was not measured"
        return SpeedVerdict("invalid", why=reason)
    return SpeedVerdict("base broken", why=wrong)


def document(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome for a program."""
    fields, verdicts = outcome._asdict(), []
    for pair in fields.pop("questions"):
        row = pair._asdict() | pair.case.model_dump(include={"server", "driver", "vary"})
        row |= pair.verdict._asdict() | {"waived": pair.waiver and pair.waiver.reason}
        row["speed"] = row.pop("value")
        for internal in ("case", "verdict", "waiver", "expired", "counts", "tolerated"):
            del row[internal]
        verdicts.append(row)
    return {"state": outcome.state, "exit_code": outcome.exit_code, **fields, "verdicts": verdicts}


def _why_none(head: CaseSummary, base: CaseSummary) -> str:
    """Return why a pair cannot be compared at all: a side that failed and has no measurement.

    In turns the failure of a side is the other's, too, whose message ends with it.
    """
    failures = [
        (name, side.failed[0].failure.message)
        for side, name in ((base, "base"), (head, "head"))
        if side.failed and not side.trials
    ]
    if not failures:
        return ""
    name, message = min(failures, key=lambda failure: len(failure[1]))
    return f"{name}: {message}"


def unmeasured(summary: Summary) -> dict[str, str]:
    """Return the scenarios that a gate measures again without turns, each with the reason.

    Either no load in turns could be measured, though the servers started, or the base is broken:
    then the answers of the working tree alone are judged.
    """
    again: dict[str, str] = {}
    for comparison in summary.comparisons:
        cases = summary.cases_of(comparison)
        failures = [trial.failure for case in cases for trial in case.failed]
        if any(case.trials for case in cases) or not failures:
            continue
        if all(failure.stage == "drive" and not failure.broken for failure in failures):
            again[comparison.scenario] = "their servers are too slow to take turns"
        elif not any(next(wrong_answers(head), "") for head, _ in heads(cases)):
            again[comparison.scenario] = BASE_BROKEN
    return again


def heads(cases: Sequence[CaseSummary]) -> Iterator[tuple[CaseSummary, CaseSummary | None]]:
    """Yield each case of the working tree with the same at the base; None if that is missing."""
    by_key = {_key(case.case): case for case in cases}
    servers = {case.case.server for case in cases}
    for case in cases:
        name, label = case.case, base_label(case.case.server)
        if label in servers:
            vary = {renamed(path, name.server): value for path, value in name.vary.items()}
            base = name.model_copy(update={"server": label, "vary": vary})
            yield case, by_key.get(_key(base))


def _key(case: CaseName) -> tuple[str, str, str, str]:
    return case.scenario, case.server, case.driver, repr(sorted(case.vary.items()))


BASE_BROKEN = "the base answers wrongly"


def _is_rate(head: CaseSummary) -> bool:
    return any(line.measurand == RATE for line in head.metrics[:1])


def _ratios(
    head: CaseSummary, base: CaseSummary
) -> tuple[MetricSummary, Estimate, Estimate] | None:
    """Return the first metric with head over base; None where a side has none.

    The second ratio is the one had others left both sides as much of the CPUs.
    """
    line = next(iter(head.metrics), None)
    other = None if line is None else base.line(line.metric, line.of)
    if line is None or other is None:
        return None
    head_values, theirs = _places(head, line), _places(base, other)
    level = levelled_places(head_values, left_to(head), line.better)
    base_level = levelled_places(theirs, left_to(base), line.better)
    sd = explained(head.rounds, base.rounds) if line.measurand == RATE else 0.0
    plain = guarded(ratio(*paired(head_values, theirs)), sd, RULE)
    return line, plain, guarded(ratio(*paired(level, base_level)), sd, RULE)


def _places(case: CaseSummary, line: MetricSummary) -> dict[Place, float]:
    left_out = doubted(case, line)
    believed = {sample.trial for sample in line.samples} - left_out
    return by_place(line, believed, disturbed(case, line))
