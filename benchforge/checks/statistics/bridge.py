"""Equality of ratios in turns and one after the other (I8)."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

from benchforge.checks.limits import Thresholds
from benchforge.checks.seen import CaseTrials, by_name
from benchforge.checks.statistics.repetitions import rates_of, ratios_of
from benchforge.model.trial.check import Check, Status
from benchforge.model.trial.trial import Trial
from benchforge.stats.inference.interval import Welch, welch
from benchforge.text.readable import percent, times

_ERROR = 0.01
_USEFUL = 0.5
"Largest difference that a bridge may overlook; else it says nothing."
_OFF = 'measure them one after the other: interleave = "off" in the scenario'


def of_bridge(
    joint: CaseTrials, alone: CaseTrials, scenario: str, limits: Thresholds
) -> Iterator[Check]:
    """Yield for each pair whether its ratio of rates in turns is that of the blocks without.

    All pairs together are found to differ by chance in 1 % of comparisons.
    """
    joint_trials, theirs = by_name(joint), by_name(alone)
    pairs = [*combinations(joint_trials, 2)]
    for a, b in pairs:
        of_turns, of_blocks = (
            _log_ratios(sides.get(a, ()), sides.get(b, ())) for sides in (joint_trials, theirs)
        )
        means = welch(of_turns, of_blocks, 1 - _ERROR / len(pairs))
        yield _pair(f"{a} / {b}", means, len(of_blocks), scenario, limits)


def _pair(pair: str, means: Welch | None, blocks: int, scenario: str, limits: Thresholds) -> Check:
    if means is None:
        says = f"{pair}: {blocks} blocks one after the other are too few to compare with turns"
        return limits.check("I8", "apparatus", None, says).about(pair, "comparison")
    ratios = f"{times(math.exp(means.first))}x in turns, {times(math.exp(means.second))}x alone"
    apart, would_show = math.expm1(abs(means.difference)), math.expm1(means.half)
    says = f"{pair} is {ratios} ({blocks} blocks)"
    if would_show > _USEFUL:
        says += f": too few to compare, only {percent(would_show)} or more would show"
        return limits.check("I8", "apparatus", None, says).about(pair, "comparison")
    differ = abs(means.difference) > means.half
    status: Status = "pass" if not differ else limits["I8"].status(apart)
    if status == "pass":
        says += f": they agree, and a difference of {percent(would_show)} would show"
    else:
        says += f": {scenario} in turns is not what it is alone; {_OFF}"
    value = apart if differ else 0.0
    return limits.check("I8", "apparatus", value, says, status).about(pair, "comparison")


def _log_ratios(trials: Sequence[Trial], theirs: Sequence[Trial]) -> list[float]:
    """Return the log-ratio of the rates of each block that has both, disturbed or not."""
    rates = (rates_of(side).items() for side in (trials, theirs))
    return ratios_of(*({(block, False): rate for (block, _), rate in side} for side in rates))
