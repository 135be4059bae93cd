"""How often the verdicts of `benchforge gate` are false, by simulation: noise of known kinds.

    .venv/bin/python benchmarks/gate_model.py [RUNS]

A gate takes 4 blocks or more. It ends when each interval, which holds at all looks, excludes 1 or
the limit, or when its time is over. Each row of the table has RUNS gates (2,000) of equal servers,
of servers that lose just the limit, and of servers of which one loses 5 %, or twice the limit.
Printed is the share of gates with the verdict *slower* of an equal server, of those that pass a
loss of the limit, and of those that find the loss of one among equals; then the median number of
blocks, of equal servers and of twice the limit.
"""

import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from benchforge.cli.measure.gate.verdict import RULE, State, decided, level
from benchforge.stats.distributions import t_quantile

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
    n = 0
    while True:
        n += 1
        for number, (effect, drawn) in enumerate(zip(effects, draws, strict=True)):
            value = effect + next(drawn)
            sums[number] += value
            squares[number] += value * value
        if n < RULE.first:
            continue
        half = half_width(n, len(losses), most)
        states = []
        for total, square in zip(sums, squares, strict=True):
            spread = math.sqrt(max(0.0, square - total * total / n) / (n - 1) / n)
            states.append(_state(total / n, half * spread))
        if n == most or "undecided" not in states:
            return Gate(states, n)


@cache
def half_width(n: int, servers: int, most: int) -> float:
    """Return the half-width of an interval after n blocks, in standard errors."""
    error = RULE._replace(most=most).t_error(1 - level(servers), n)
    return t_quantile(1 - error / 2, n - 1)


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
