"""What came of a gate: a verdict on each pair, and the exit code."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from benchforge.cli.measure.outcome import FAILS, NO_ANSWER
from benchforge.model.suite.gate import Waiver
from benchforge.model.summary.summary import CaseSummary, Summary
from benchforge.model.values.case_name import CaseName
from benchforge.model.values.metric_title import titled
from benchforge_commands.gate.ratios import pair_ratio
from benchforge_commands.gate.verdict import SpeedVerdict, judge
from benchforge_commands.gate.waivers import waiver_of
from benchforge_commands.rebaseline.suite import before, renamed


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
    "Waiver that holds today."
    expired: Waiver | None

    @property
    def title(self) -> str:
        """For a person: scenario, server, load tool and varied options."""
        return self.case.model_copy(update={"scenario": self.scenario}).title

    @property
    def passes(self) -> bool:
        """True if nothing is slower, or a waiver allows it."""
        return self.verdict.state == "not slower" or self.waiver is not None


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
    "For a person: what was left out, and how the pairs were measured."
    result: str
    "Folder of the result; empty if nothing was measured."
    same: bool = False
    "True if both have the same code and packages, so that nothing was measured."

    @property
    def state(self) -> str:
        """The worst of all verdicts that no waiver allows."""
        states = {one.verdict.state for one in self.questions if not one.passes}
        worst = ("slower", "invalid", "undecided")
        return next((one for one in worst if one in states), "not slower")

    @property
    def exit_code(self) -> int:
        """1 if something is slower, else 4 if something has no answer, else 0."""
        if not self.questions and not self.same:
            return NO_ANSWER
        return {"slower": FAILS, "not slower": 0}.get(self.state, NO_ANSWER)


def questions_of(
    summary: Summary,
    origins: Mapping[str, str],
    limit: float,
    waivers: Sequence[Waiver],
    questions: int,
) -> tuple[GatedPair, ...]:
    """Return the verdict on each pair of a result, by the first metric of its scenario.

    `questions` is the number of pairs of the gate.
    """
    by_key = {_key(case.case): case for case in summary.cases}
    servers = {case.case.server for case in summary.cases}
    heads = [case for case in summary.cases if before(case.case.server) in servers]
    today = datetime.now().astimezone().date()
    judged = []
    for head in heads:
        base = by_key.get(_key(_at_base(head.case)))
        metric, verdict = _judged(head, base, limit, questions)
        origin = origins.get(head.case.scenario, head.case.scenario)
        waiver, expired = waiver_of(waivers, origin, head.case.server, today)
        judged.append(GatedPair(origin, head.case, metric, verdict, head.in_turns, waiver, expired))
    return tuple(judged)


def _judged(
    head: CaseSummary, base: CaseSummary | None, limit: float, questions: int
) -> tuple[str, SpeedVerdict]:
    """Return the title of the metric and the verdict, which holds with others levelled out, too."""
    if why := _why_none(head, base):
        return "", SpeedVerdict("invalid", why=why)
    pair = None if base is None else pair_ratio(head, base)
    if pair is None:
        return "", SpeedVerdict("undecided", why="no block was measured in the time")
    rate = None if head.load is None else head.load.rate
    if rate is not None and pair.line.measurand == "responses per second":
        why = f"the load has a fixed rate, so its {pair.line.metric} says nothing: set `metrics`"
        return "", SpeedVerdict("invalid", why=why)
    title, better = titled(pair.line.metric, pair.line.of), pair.line.better
    verdict, levelled = (
        judge(one, better=better, limit=limit, questions=questions)
        for one in (pair.plain, pair.levelled)
    )
    if levelled.state != verdict.state:
        why = "other processes left one side more of the CPUs"
        verdict = verdict._replace(state="undecided", why=why)
    return title, verdict


def document(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome for a program."""
    return {
        "state": outcome.state if outcome.questions or outcome.same else "invalid",
        "exit_code": outcome.exit_code,
        "base": outcome.base,
        "head": outcome.head,
        "limit": outcome.limit,
        "level": outcome.level,
        "same": outcome.same,
        "verdicts": [_row(one) for one in outcome.questions],
        "notes": list(outcome.notes),
        "result": outcome.result,
    }


def _row(question: GatedPair) -> dict[str, Any]:
    verdict, case, waiver = question.verdict, question.case, question.waiver
    return {
        "scenario": question.scenario,
        "server": case.server,
        "driver": case.driver,
        "vary": case.vary,
        "metric": question.metric,
        "state": verdict.state,
        "speed": verdict.value,
        "low": verdict.low,
        "high": verdict.high,
        "blocks": verdict.blocks,
        "in_turns": question.in_turns,
        "why": verdict.why,
        "waived": None if waiver is None else waiver.reason,
    }


def _at_base(case: CaseName) -> CaseName:
    vary = {renamed(path, case.server): value for path, value in case.vary.items()}
    return case.model_copy(update={"server": before(case.server), "vary": vary})


def _key(case: CaseName) -> tuple[str, str, str, str]:
    return case.scenario, case.server, case.driver, repr(sorted(case.vary.items()))


def _why_none(head: CaseSummary, base: CaseSummary | None) -> str:
    """Return why a pair cannot be compared at all: a side that failed and has no measurement.

    In turns the failure of a side is the other's, too, whose message ends with it.
    """
    if base is None:
        return "the base was not measured"
    failures = [
        (name, side.failed[0].failure.message)
        for side, name in ((base, "base"), (head, "head"))
        if side.failed and not side.trials
    ]
    if not failures:
        return ""
    name, message = min(failures, key=lambda failure: len(failure[1]))
    return f"{name}: {message}"


def failed_in_turns(summary: Summary) -> list[str]:
    """Return the scenarios of which no load in turns could be measured, though servers started."""
    by_scenario: dict[str, list[CaseSummary]] = {}
    for case in summary.cases:
        by_scenario.setdefault(case.case.scenario, []).append(case)
    return [
        scenario
        for scenario, cases in by_scenario.items()
        if not any(case.trials for case in cases)
        and all(one.failure.stage == "drive" for case in cases for one in case.failed)
        and any(case.failed for case in cases)
    ]
