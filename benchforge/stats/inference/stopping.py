"""Stop rules of a run, and the intervals that hold then: the error that Student's t may use.

A decision looks at its interval after each block: intervals that hold at all looks together. An
estimate ends once its interval is narrow: such a run has more often underestimated its noise, so
its intervals are wider. `benchmarks/verdict_models.py` shows the errors of both.
"""

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final, Literal, NamedTuple, Self

from benchforge.model.suite.until import Until
from benchforge.model.summary.verdict import Estimate, StopDecision
from benchforge.stats.distributions import t_quantile, two_sided
from benchforge.stats.inference.interval import LEAST, PLAIN
from benchforge.text.readable import percent

_LARGEST: Final = 700.0  # of a logarithm: no float holds more
_LOOKS = 200
"Blocks up to which the errors of decisions were simulated."
_SMALL = 0.0005
"Error below which they were not: there the sum of all looks is a bound."
_AT_ALL_LOOKS: Final = {3: (0.53, 1.6), 4: (0.65, 2.3)}
_AT_WIDTH: Final = {3: 0.0215, 4: 0.0255, 5: 0.0289, 6: 0.0313, 8: 0.035}
"Error of t by the first look, with which the worst coverage over all deviations is 95 %."
_USUAL = 0.05
_STEEPER = 1.28
"Power of the stated error that errors beside 5 % take: on the safe side down to 0.0001."
_EARLIER = 0.8, 0.01
"Before rules were recorded: the share of the error after a width, and the error of a sequence."


class Stop(NamedTuple):
    """A rule that may end a run, known before its first block."""

    method: Literal["blocks", "width", "decision", "earlier"] = "blocks"
    "A number of blocks; a width; a decision; or a rule of results that do not record it."
    first: int = LEAST
    "Believed blocks at the first look."
    most: int = _LOOKS
    error: float = _USUAL
    "Share of runs in which a claim may be answered wrongly."

    @classmethod
    def of(cls, until: Until | None) -> Self:
        """Return the rule that a header records."""
        if until is None:
            return cls()
        return cls(until.method or "earlier", until.least, until.most, 1 - until.level)

    @property
    def while_it_runs(self) -> "Stop":
        """The rule for answers while a run goes on: anybody may end it at any look."""
        return self if self.method == "decision" else Stop("decision", most=max(LEAST, self.most))

    def t_error(self, error: float, n: int) -> float:
        """Return the error of Student's t after n blocks, of intervals that err by `error`."""
        if self.method == "decision":
            return min(1.0, self.kappa(error) / max(n, 1))
        if self.method == "width":
            first = max((n for n in _AT_WIDTH if n <= self.first), default=LEAST)
            return min(error, _AT_WIDTH[first] * math.pow(error / _USUAL, _STEEPER))
        return error * _EARLIER[0] if self.method == "earlier" else error

    def kappa(self, error: float) -> float:
        """Return the error of t times the number of the look, of decisions that err by `error`."""
        first = max(min(self.first, max(_AT_ALL_LOOKS)), LEAST)
        if error < _SMALL:
            return error / _harmonic(first, max(self.most, _LOOKS))
        constant, root = _AT_ALL_LOOKS[first]
        longer = _harmonic(first, _LOOKS) / _harmonic(first, max(self.most, _LOOKS))
        return error * (constant + root * math.sqrt(error)) * longer

    def p(self, p: float, n: int) -> float:
        """Return the least error whose interval excludes the bound: p, had nothing stopped."""
        if self.method in {"blocks", "earlier"}:
            return min(1.0, p / self.t_error(1.0, n))
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if self.t_error(middle, n) >= p else (middle, high)
        return high


@lru_cache(maxsize=64)
def _harmonic(first: int, last: int) -> float:
    return math.fsum(1 / n for n in range(first, last + 1))


BLOCKS: Final = Stop()


def recorded(until: Until | None, questions: int) -> Until | None:
    """Return the rule as a header records it, with the error that its intervals use."""
    if until is None:
        return None
    stop, error = Stop.of(until), 1 - until.level
    decides = stop.method == "decision"
    used = stop.kappa(error / max(1, questions)) if decides else stop.t_error(error, until.least)
    return until.model_copy(update={"t_error": float(f"{used:.6g}")})


def at_level(estimate: Estimate, level: float, stop: Stop = BLOCKS) -> Estimate:
    """Return an estimate by t with the interval of this level, whenever a run ends; others stay."""
    if estimate.value is None or estimate.df is None or estimate.sd is None:
        return estimate
    error = stop.t_error(1 - level, estimate.n)
    half = t_quantile(1 - error / 2, estimate.df) * estimate.sd / math.sqrt(estimate.n)
    if estimate.method in PLAIN:
        ends = {"low": estimate.value - half, "high": estimate.value + half}
    else:
        wider = math.exp(min(_LARGEST, half))
        ends = {"low": estimate.value / wider, "high": estimate.value * wider}
    return estimate.model_copy(update={"level": level, **ends})


def guarded(estimate: Estimate, explained: float, stop: Stop) -> Estimate:
    """Return the estimate of a ratio with a deviation not below that of its blocks' slices.

    Few blocks that agree by chance would end a run. A number of blocks needs no guard.
    """
    sd, value = estimate.sd, estimate.value
    if sd is None or value is None or explained <= sd or stop.method in {"blocks", "earlier"}:
        return estimate
    p = two_sided(math.log(value) / (explained / math.sqrt(estimate.n)), estimate.n - 1)
    return at_level(estimate.model_copy(update={"sd": explained, "p": p}), estimate.level)


def earlier_sequence(estimate: Estimate, questions: int) -> tuple[float, float] | None:
    """Return the interval that ended results which record no rule; None where it has no ends.

    Source: Wang and Ramdas 2023 (arXiv 2310.03722), a normal mixture with g = 1.
    """
    n, sd = estimate.n, estimate.sd
    if estimate.value is None or sd is None or n < LEAST:
        return None
    share = 1 / (1 + n)
    growth = (max(1, questions) / (_EARLIER[1] * math.sqrt(share))) ** (2 / n)
    if share * growth >= 1:
        return None
    half = sd * math.sqrt((n - 1) * (growth - 1) / (1 - share * growth) / n)
    return estimate.value * math.exp(-half), estimate.value * math.exp(half)


def enough(estimates: Sequence[Estimate], n: int, until: Until) -> StopDecision:
    """Return whether to stop after n whole blocks: the rule behind `until = "3%"`.

    `estimates` are ratios, or typical values without any ratio. The run does not wait for one that
    has no interval at the first look (a value is 0, all are equal), since no further block promises
    one; the width is then not reached. It waits for one that rests on fewer blocks.
    """
    least, most = until.least, until.most
    halves = [half for estimate in estimates if (half := half_width(estimate)) is not None]
    widest = max(halves, default=None)
    decision = partial(StopDecision, blocks=n, half_width=widest)
    ends = f"repeat.between = [{least}, {most}] allows no more, and " if n >= most else ""
    if n < least:
        return decision(stop=False, why=f"{n} of at least {least} blocks")
    if few := [estimate.n for estimate in estimates if estimate.n < least]:
        believed = f"{min(few)} of at least {least} blocks are believed"
        return decision(stop=n >= most, why=f"{ends}{believed} of two that are compared")
    if widest is not None and widest > until.width:
        wide = f"an interval is {percent(widest)} wide to a side"
        return decision(stop=n >= most, why=f"{ends}{wide}, more than {until.in_words}")
    if len(halves) < len(estimates) or widest is None:
        reasons = [estimate.why for estimate in estimates if not estimate.interval]
        reason = f"no block will tell more: {(reasons or ['nothing was asked for'])[0]}"
        return decision(stop=True, why=reason)
    reason = f"no interval is wider than {percent(widest)} to a side"
    return decision(stop=True, reached=True, why=reason)


def half_width(estimate: Estimate) -> float | None:
    """Return how far an interval reaches to a side, on the log scale; None without one."""
    if estimate.low is None or estimate.high is None:
        return None
    return (math.log(estimate.high) - math.log(estimate.low)) / 2
