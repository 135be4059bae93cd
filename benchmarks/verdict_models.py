"""How often benchforge is wrong in simulated runs, where the truth and the noise are known.

    .venv/bin/python benchmarks/verdict_models.py [RUNS]

Shown is the part of docs/false-verdicts.md about simulated runs, in Markdown: RUNS of them (2000)
for each row. Seeds are fixed, so the same figures come again.
"""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/support"))

from made.models import BY_RUN, BY_SCENARIO, HOLM, Model, SimulatedRun, errors, hard
from made.simulate import share

from benchforge.stats.inference.interval import t_of_logs
from benchforge.stats.timeseries.trend import resemblance

RUNS = 2000
RULES = {"run, Benjamini-Hochberg": BY_RUN, "run, Holm": HOLM, "scenario, Holm": BY_SCENARIO}
REAL = (1.06, 1.0, 1.0, 1.0, 1.0)
BLOCKS = (5, 8, 10, 20, 30)
ERROR = 0.05


def main() -> None:
    """Print the part of the page."""
    print("\n".join(page(int(sys.argv[1]) if sys.argv[1:] else RUNS)))


def page(runs: int) -> Iterator[str]:
    """Yield the lines of the part."""
    yield "## Simulated runs\n"
    chance = 100 * 3 * (ERROR * (1 - ERROR) / runs) ** 0.5
    yield (
        f"`benchmarks/verdict_models.py` judges {runs:,} simulated runs for each row: a claim "
        "`a > b` in each scenario.\nA verdict is false if its interval misses the true ratio. "
        f"Chance may add or take {chance:.1f} points.\n"
    )
    yield from families(runs)
    yield "\n## Intervals of a number of blocks\n"
    yield (
        "Share of intervals of 95 % that hold the true mean ratio of two servers, by number of "
        "blocks. The mean of\na server with two modes is between them.\n"
    )
    yield from coverage(runs)
    yield "\n## The check S8\n"
    yield "Share of pairs that drift by S8, by number of blocks.\n"
    yield from alarms(runs)


def simulated(scenarios: int) -> dict[str, SimulatedRun]:
    """Return the runs of the table of false verdicts, by what their servers are like."""
    equal = [1.0] * scenarios
    return {
        "equal, noise 2 %, 5 blocks": SimulatedRun(equal, 5, 0.02),
        "equal, noise 0.5 %, 8 blocks": SimulatedRun(equal, 8, 0.005),
        "6 % more in one of five, noise 2 %, 10 blocks": SimulatedRun(
            REAL * (scenarios // 5), 10, 0.02
        ),
    }


def families(runs: int) -> Iterator[str]:
    """Yield the table of false verdicts."""
    yield (
        "| scenarios | servers | family, correction | runs with a false verdict | "
        "false among answers | found |"
    )
    yield "|---|---|---|---|---|---|"
    for scenarios in (5, 20):
        for servers, run in simulated(scenarios).items():
            for rules, rule in RULES.items():
                found = errors(run, rule, runs)
                power = "" if found.power is None else f"{found.power:.1%}"
                shares = f"{found.any_false:.1%} | {found.false_share:.1%} | {power}"
                yield f"| {scenarios} | {servers} | {rules} | {shares} |"


def coverage(runs: int) -> Iterator[str]:
    """Yield the table of intervals that hold the truth, by model and number of blocks."""
    yield f"| noise | {' | '.join(map(str, BLOCKS))} |"
    yield f"|---|{'---|' * len(BLOCKS)}"
    for name, model in hard():
        shares = (share(runs, n, partial(held, n=n, model=model)) for n in BLOCKS)
        yield f"| {name} | {' | '.join(f'{one:.1%}' for one in shares)} |"


def held(draw: Random, n: int, model: Model) -> bool:
    """Whether the interval of 95 % holds the truth."""
    found = t_of_logs(model(draw, n), "paired t of log-ratios", 0.95)
    return found.interval is not None and found.interval[0] <= 1 <= found.interval[1]


def alarms(runs: int) -> Iterator[str]:
    """Yield the table of false alarms and power."""
    sizes = BLOCKS[1:]
    yield f"| noise | {' | '.join(map(str, sizes))} |"
    yield f"|---|{'---|' * len(sizes)}"
    models = dict(hard())
    names = {name: models[name] for name in list(models)[:4]}
    trend = {"a rise of three deviations over the run": rising}
    for name, model in {**names, **dict(list(hard())[-2:]), **trend}.items():
        shares = (share(runs, n, partial(alarmed, n=n, model=model)) for n in sizes)
        yield f"| {name} | {' | '.join(f'{one:.1%}' for one in shares)} |"


def alarmed(draw: Random, n: int, model: Model) -> bool:
    """Whether S8 warns."""
    return (resemblance(model(draw, n)) or 1.0) < ERROR


def rising(draw: Random, n: int) -> list[float]:
    """Return log-ratios that rise by three deviations of their noise."""
    return [3 * block / (n - 1) + draw.gauss(0, 1) for block in range(n)]


if __name__ == "__main__":
    main()
