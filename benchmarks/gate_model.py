"""How often the verdicts of `benchforge gate` are false, by simulation: noise of known kinds.

    .venv/bin/python benchmarks/gate_model.py [RUNS]

A gate takes 8 blocks or more. It ends when each interval is narrow enough or decided at all looks,
or when its time is over. Each row of the table has RUNS gates (2,000) of equal servers, of servers
that lose just the limit, and of servers of which one loses 5 %, or twice the limit. Printed is the
share of gates with the verdict *slower* of an equal server, of those that pass a loss of the limit,
and of those that find the loss of one among equals; then the median number of blocks, of equal
servers and of twice the limit.
"""

import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from benchforge.cli.measure.gate.verdict import FEWEST, State, decided, level, precision
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.distributions import t_quantile
from benchforge.stats.inference.joint import ERROR, STOPPED, confidence_sequence

LIMIT = 0.05
RUNS = 2000
Noise = Callable[[random.Random], Iterator[float]]


class Gate(NamedTuple):
    """A simulated gate: its verdicts, and its blocks."""

    states: list[State]
    blocks: int


def normal(sd: float) -> Noise:
    """Return noise that is the same in each block."""

    def draws(chance: random.Random) -> Iterator[float]:
        while True:
            yield chance.gauss(0, sd)

    return draws


def bursts(sd: float, share: float, factor: float) -> Noise:
    """Return noise of which a share of the blocks has several times as much."""

    def draws(chance: random.Random) -> Iterator[float]:
        while True:
            yield chance.gauss(0, sd * (factor if chance.random() < share else 1))

    return draws


def modes(sd: float, share: float, depth: float) -> Noise:
    """Return noise of two servers that are slower in a share of their launches, each by itself."""

    def draws(chance: random.Random) -> Iterator[float]:
        while True:
            head, base = ((chance.random() < share) * depth for _ in range(2))
            yield chance.gauss(0, sd) - head + base

    return draws


def resembling(sd: float, correlation: float) -> Noise:
    """Return noise of blocks that resemble the block before."""

    def draws(chance: random.Random) -> Iterator[float]:
        last = chance.gauss(0, sd)
        while True:
            yield last
            last = correlation * last + chance.gauss(0, sd * math.sqrt(1 - correlation**2))

    return draws


KINDS: dict[str, Noise] = {
    "normal, 1 %": normal(0.01),
    "normal, 3 %": normal(0.03),
    "normal, 6 %": normal(0.06),
    "normal, 12 %": normal(0.12),
    "3 %, four times as much in 1 block of 10": bursts(0.03, 0.1, 4),
    "2 %, a launch in 5 is 10 % slower": modes(0.02, 0.2, 0.1),
    "3 %, correlation 0.3 of blocks": resembling(0.03, 0.3),
}


def gate(losses: list[float], noise: Noise, most: int, chance: random.Random) -> Gate:
    """Return a gate of servers that lose these shares of their speed."""
    draws = [noise(chance) for _ in losses]
    effects = [math.log1p(-loss) for loss in losses]
    sums, squares = [0.0] * len(losses), [0.0] * len(losses)
    wanted = math.log1p(precision(LIMIT, len(losses)))
    n = 0
    while True:
        n += 1
        for number, (effect, drawn) in enumerate(zip(effects, draws, strict=True)):
            value = effect + next(drawn)
            sums[number] += value
            squares[number] += value * value
        if n < FEWEST:
            continue
        spreads = [
            math.sqrt(max(0.0, square - total * total / n) / (n - 1) / n)
            for total, square in zip(sums, squares, strict=True)
        ]
        means = [total / n for total in sums]
        open_ = [
            spread
            for mean, spread in zip(means, spreads, strict=True)
            if not decided_at_all_looks(mean, spread, n, len(losses))
        ]
        if n == most or max(open_, default=0.0) * quantile(STOPPED * 0.05, n - 1) <= wanted:
            half = quantile(STOPPED * (1 - level(len(losses))), n - 1)
            pairs = zip(means, spreads, strict=True)
            return Gate([_state(mean, half * spread) for mean, spread in pairs], n)


def decided_at_all_looks(mean: float, spread: float, n: int, servers: int) -> bool:
    """Return whether the limit is outside the interval that holds at all looks together."""
    estimate = Estimate.model_construct(  # very many: nothing is validated
        method="paired t of log-ratios",
        level=0.95,
        n=n,
        value=math.exp(mean),
        sd=spread * math.sqrt(n),
    )
    ends = confidence_sequence(estimate, ERROR / servers)
    return ends is not None and not ends[0] <= 1 - LIMIT <= ends[1]


@cache
def quantile(error: float, df: int) -> float:
    """Return the half-width of a two-sided interval with this error, in standard errors."""
    return t_quantile(1 - error / 2, df)


def _state(middle: float, half: float) -> State:
    return decided(math.exp(middle - half), math.exp(middle + half), LIMIT)


def row(name: str, servers: int, most: int, runs: int) -> str:
    """Return a row of the table."""
    chance = random.Random(f"{name} {servers} {most}")  # noqa: S311
    noise = KINDS[name]
    equal = [gate([0.0] * servers, noise, most, chance) for _ in range(runs)]
    at_limit = [gate([LIMIT] * servers, noise, most, chance) for _ in range(runs)]
    planted = [gate([LIMIT, *[0.0] * (servers - 1)], noise, most, chance) for _ in range(runs)]
    twice = [gate([2 * LIMIT, *[0.0] * (servers - 1)], noise, most, chance) for _ in range(runs)]
    shares = [
        _share(equal, lambda one: "slower" in one.states),
        _share(at_limit, lambda one: "not slower" in one.states),
        _share(equal, lambda one: {*one.states} == {"not slower"}),
        _share(planted, lambda one: one.states[0] == "slower"),
        _share(twice, lambda one: one.states[0] == "slower"),
    ]
    blocks = [f"{statistics.median(one.blocks for one in of):g}" for of in (equal, twice)]
    return f"| {name} | {servers} | {most} | {' | '.join((*shares, *blocks))} |"


def _share(gates: list[Gate], true: Callable[[Gate], bool]) -> str:
    return f"{100 * sum(map(true, gates)) / len(gates):.1f}%"


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(
        "| noise of a block | pairs | most blocks | equal: slower | at the limit: passes ", end=""
    )
    print("| equal: passes | 5 % less: found | 10 % less: found | blocks | blocks, 10 % less |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in KINDS:
        for servers, most in ((1, 60), (5, 60)):
            print(row(name, servers, most, runs))


if __name__ == "__main__":
    main()
