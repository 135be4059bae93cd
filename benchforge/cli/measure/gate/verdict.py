"""Verdicts by the interval of a change: slower, not slower by more than a limit, or undecided.

The interval holds at all looks, for all questions of a gate together, so that at most 1 % of the
gates of unchanged servers say *slower* of any of them, and at most 1 % pass a loss of the limit.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

from benchforge.cli.console.reported import FAILS, NO_ANSWER
from benchforge.model.suite.claim import Waiver
from benchforge.model.summary.verdict import Estimate
from benchforge.report.junit_xml import Element
from benchforge.stats.inference.interval import LEAST
from benchforge.stats.inference.joint import simultaneous
from benchforge.stats.inference.stopping import Stop, at_level

ERROR = 0.01
"Share of gates with a false verdict of either kind, at most."
LEVEL = 1 - 2 * ERROR
"Level at which all intervals of a gate hold together: two-sided."
RULE: Final = Stop("decision", first=4, error=2 * ERROR)
"Intervals at all looks, the first after four blocks."

State = Literal["not slower", "slower", "undecided", "invalid", "broken", "base broken"]


class StateShown(NamedTuple):
    """The sign, the exit code and JUnit's element of a verdict."""

    sign: str
    exit_code: int
    element: Element


STATES: Final[Mapping[State, StateShown]] = {
    "broken": StateShown("✘", FAILS, "failure"),
    "slower": StateShown("✘", FAILS, "failure"),
    "invalid": StateShown("!", NO_ANSWER, "error"),
    "undecided": StateShown("?", NO_ANSWER, "error"),
    "base broken": StateShown("!", 0, ""),
    "not slower": StateShown("✔", 0, ""),
}
"The verdicts, the worst first."


class SpeedVerdict(NamedTuple):
    """A verdict on one question: head over base, as speed. Above 1 head is faster."""

    state: State
    value: float | None = None
    low: float | None = None
    high: float | None = None
    blocks: int = 0
    why: str = ""
    "Reason for an undecided or invalid verdict; of a broken side, its answer."
    counts: str = "block"
    "Noun of the number `blocks`."


def level(questions: int) -> float:
    """Return the level of each interval: two-sided, with the error of each side shared by all."""
    return simultaneous(LEVEL, questions)


def precision(limit: float) -> float:
    """Return the half-width at which an interval decides: it cannot hold both 1 and the limit."""
    return -math.log1p(-limit) / 2


def judge(ratio: Estimate, *, better: str, limit: float, questions: int) -> SpeedVerdict:
    """Return the verdict on head / base, an estimate by Student's t, at any look."""
    if ratio.value is None or ratio.n < LEAST or ratio.df is None:
        reason = ratio.why or "no interval"
        return SpeedVerdict("undecided", ratio.value, blocks=ratio.n, why=reason)
    wide = at_level(ratio, level(questions), RULE)
    value, low, high = (number or math.nan for number in (wide.value, wide.low, wide.high))
    if better != "higher":
        value, low, high = 1 / value, 1 / high, 1 / low
    return SpeedVerdict(decided(low, high, limit), value, low, high, ratio.n)


def decided(low: float, high: float, limit: float) -> State:
    """Return the state that an interval of the speed decides.

    What is within the limit passes, also if it is slower for sure. Slower is what is slower for
    sure, and may be so by more than the limit.
    """
    if low > 1 - limit:
        return "not slower"
    return "slower" if high < 1 else "undecided"


def waiver_of(
    waivers: Sequence[Waiver], scenario: str, server: str
) -> tuple[Waiver | None, Waiver | None]:
    """Return the waiver that holds today for a server of a scenario, and an expired one."""
    today = datetime.now().astimezone().date()
    of_pair = [it for it in waivers if it.scenario == scenario and it.server in {None, server}]
    valid = [waiver for waiver in of_pair if waiver.until is None or waiver.until >= today]
    expired = [waiver for waiver in of_pair if waiver not in valid]
    return next(iter(valid), None), next(iter(expired), None)
