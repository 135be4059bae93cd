"""Simulated runs of several scenarios, judged as a run is; and models of noise that hurt."""

import math
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from made.simulate import autocorrelated, two
from made.summaries import case, claim, summary

from benchforge.model.suite.claim import VerdictRules
from benchforge.stats.verdict.judge import judge

BY_RUN = VerdictRules()
BY_SCENARIO = VerdictRules(family="scenario", correction="holm")
HOLM = VerdictRules(correction="holm")


class Outcome(NamedTuple):
    """The verdict on a scenario of a simulated run."""

    state: str
    missed: bool
    "True if the interval misses the truth: then an answer is false."

    @property
    def answered(self) -> bool:
        """Whether the claim holds or fails."""
        return self.state in {"holds", "fails"}


class SimulatedRun(NamedTuple):
    """A run: a claim `a > b` in each scenario, whose true ratios are known."""

    truths: Sequence[float]
    blocks: int
    noise: float
    "Deviation of one server's values within a block, of logarithms."

    def outcomes(self, draw: Random, rules: VerdictRules = BY_RUN) -> list[Outcome]:
        """Return what is judged of one run that is drawn."""
        cases, claims = [], []
        for number, truth in enumerate(self.truths):
            a, b = two(draw, self.blocks, truth, self.noise, 0)
            label = f"s{number}"
            cases += [case("a", a, scenario=label), case("b", b, scenario=label)]
            claims.append(claim("a > b", label=label, scenario=label))
        verdicts = judge(summary(*cases, verdict_rules=rules), claims)
        outcomes = []
        for verdict, truth in zip(verdicts, self.truths, strict=True):
            low, high = verdict.estimate.interval or (math.inf, 0)
            outcomes.append(Outcome(verdict.state, missed=not low <= truth <= high))
        return outcomes


class Errors(NamedTuple):
    """What many simulated runs had, as shares of 1."""

    any_false: float
    "Runs with a false verdict."
    false_share: float
    "Mean share of false verdicts among those that answer."
    power: float | None
    "Real differences that are found; None if there are none."


def errors(run: SimulatedRun, rules: VerdictRules, times: int, seed: int = 1) -> Errors:
    """Return how often simulated runs have false verdicts."""
    draw, shares, real = Random(seed), list[float](), list[bool]()
    for _ in range(times):
        outcomes = run.outcomes(draw, rules)
        false = [outcome.missed for outcome in outcomes if outcome.answered]
        shares.append(sum(false) / max(1, len(false)))
        real += [
            item == Outcome("holds", missed=False)
            for item, truth in zip(outcomes, run.truths, strict=True)
            if truth > 1
        ]
    any_false = sum(share > 0 for share in shares) / times
    return Errors(any_false, sum(shares) / times, sum(real) / len(real) if real else None)


Model = Callable[[Random, int], list[float]]
"Log-ratios of so many blocks, whose true mean is 0."


def resembling(stays: float) -> Model:
    """Return two servers, of each of which a block resembles the one before."""

    def logs(draw: Random, n: int) -> list[float]:
        pairs = zip(autocorrelated(draw, n, stays), autocorrelated(draw, n, stays), strict=True)
        return [0.02 * (a - b) for a, b in pairs]

    return logs


def modes(share: float) -> Model:
    """Return servers of which the first has 20 % less in this share of its trials."""

    def logs(draw: Random, n: int) -> list[float]:
        less = math.log(0.8)
        return [
            draw.gauss(0, 0.02) + less * (draw.random() < share) - less * share for _ in range(n)
        ]

    return logs


def skewed(draw: Random, n: int) -> list[float]:
    """Return servers of which the first has exponential delays, and the other none."""
    return [0.02 * (draw.expovariate(1) - 1) for _ in range(n)]


def heavy(draw: Random, n: int) -> list[float]:
    """Return servers whose log-ratio is of Student's t with 3 degrees of freedom, deviation 3 %."""
    return [0.03 * draw.gauss(0, 1) / math.sqrt(draw.gammavariate(1.5, 2)) for _ in range(n)]


def bursts(draw: Random, n: int) -> list[float]:
    """Return normal noise of 3 %, four times as much in one block of ten."""
    return [draw.gauss(0, 0.03 * (4 if draw.random() < 0.1 else 1)) for _ in range(n)]


def drifting(draw: Random, n: int) -> list[float]:
    """Return normal noise of 1.5 %, while the ratio rises by 3 % in 24 blocks."""
    return [draw.gauss(0, 0.015) + 0.03 * (block % 24 / 23 - 0.5) for block in range(n)]


def normal(draw: Random, n: int) -> list[float]:
    """Return servers with normal noise, of deviation 2 % each."""
    return [draw.gauss(0, 0.02 * math.sqrt(2)) for _ in range(n)]


def outliers(draw: Random, n: int) -> list[float]:
    """Return servers with normal noise, both with one trial in twenty at 20 % less."""
    a, b = two(draw, n)
    return [math.log(x) - math.log(y) for x, y in zip(a, b, strict=True)]


def hard() -> Iterator[tuple[str, Model]]:
    """Yield each model of noise with its description."""
    yield "normal noise; drift that both servers share", normal
    yield "one trial in 20 of both at 20 % less", outliers
    yield "exponential delays of one server (skew)", skewed
    yield "one server at 20 % less in 30 % of its trials", modes(0.3)
    yield "one server at 20 % less in 10 % of its trials", modes(0.1)
    yield "Student's t with 3 degrees of freedom, 3 %", heavy
    yield "3 %, four times as much in 1 block of 10", bursts
    yield "1.5 %, and the ratio rises by 3 % in 24 blocks", drifting
    yield "autocorrelation 0.5 of each server", resembling(0.5)
    yield "autocorrelation 0.8 of each server", resembling(0.8)
