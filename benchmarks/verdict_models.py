"""How often benchforge is wrong in simulated runs, where the truth and the noise are known.

    .venv/bin/python benchmarks/verdict_models.py [RUNS]

Shown is the part of docs/false-verdicts.md about simulated runs, in Markdown: RUNS of them (2000)
for each row. Seeds are fixed, so the same figures come again.
"""

import sys
from collections.abc import Iterator
from functools import partial
from math import log
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/support"))

from made.models import BY_RUN, BY_SCENARIO, HOLM, Model, SimulatedRun, errors, hard
from made.simulate import share

from benchforge.stats.inference.interval import t_of_logs
from benchforge.stats.inference.joint import ERROR as SEQUENCE
from benchforge.stats.inference.joint import at_level, confidence_sequence
from benchforge.stats.inference.sample_size import enough
from benchforge.stats.timeseries.trend import resemblance

RUNS = 2000
RULES = {"run, Benjamini-Hochberg": BY_RUN, "run, Holm": HOLM, "scenario, Holm": BY_SCENARIO}
REAL = (1.06, 1.0, 1.0, 1.0, 1.0)
BLOCKS = (5, 8, 10, 20, 30)
WIDTH, ERROR = 0.02, 0.05
CLAIMED = 0.03


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
    yield "\n## Noise that intervals do not know of\n"
    yield (
        "Share of intervals of 95 % that hold the true mean ratio of two servers, by number of "
        "blocks. The mean of\na server with two modes is between them. Intervals are too narrow "
        "where few blocks show a mode or a tail:\nbenchforge has no check for that, so take 20 "
        "blocks or more of a server that stalls now and then. They\nare too narrow where blocks "
        "resemble each other, too: then S8 warns.\n"
    )
    yield from coverage(runs)
    yield "\n## The check S8\n"
    yield "Share of pairs of which S8 says that they drift, by number of blocks.\n"
    yield from alarms(runs)
    yield "\n## `until`\n"
    yield (
        "The run ends when the interval is narrow enough: it may err in 4 % where it says 95 %, "
        "because such a run has\nmore often underestimated its noise. Noise is that of the "
        "log-ratio.\n"
    )
    yield from stopping(runs)
    yield "\n## A claim that ends a run\n"
    yield (
        "With `until` and claims, a run also ends once each claim is decided by an interval that "
        f"holds at all looks together\n(normal mixture, {SEQUENCE:.0%} for all claims of a run). "
        f"One claim `a > b`, `until = {CLAIMED:.0%}`, 8 to 60 blocks. *Alone* "
        "is a run that\nends by its width alone.\n"
    )
    yield from ending(runs)


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


def stopping(runs: int) -> Iterator[str]:
    """Yield the table of what intervals hold after a run that ended at their width."""
    yield "| noise / width | holds the truth | with 95 % inside | blocks |"
    yield "|---|---|---|---|"
    for noise in (1.0, 1.5, 2.0, 2.5, 3.0):
        wide, blocks = stopped(runs, noise, inside=True)
        narrow, _ = stopped(runs, noise, inside=False)
        yield f"| {noise:g} | {wide:.1%} | {narrow:.1%} | {blocks:.1f} |"


def stopped(runs: int, noise: float, *, inside: bool) -> tuple[float, float]:
    """Return in how many runs the interval holds the truth, and their mean number of blocks."""
    draw, covered, blocks = Random(1), 0, 0  # noqa: S311 - no secret
    for _ in range(runs):
        n, low, high = narrow_enough(draw, noise, inside=inside)
        covered += low <= 1 <= high
        blocks += n
    return covered / runs, blocks / runs


def ending(runs: int) -> Iterator[str]:
    """Yield the table of runs that a decided claim ends, beside those that a width alone ends."""
    yield "| a / b | noise | false verdicts | alone | interval holds | alone | blocks | alone |"
    yield "|---|---|---|---|---|---|---|---|"
    for effect, noise in ((1.0, 0.06), (1.0, 0.2), (1.03, 0.06), (1.1, 0.06), (1.3, 0.2)):
        early = ended(runs, effect, noise, claims=True)
        late = ended(runs, effect, noise, claims=False)
        pairs = [f"{one:.1%} | {other:.1%}" for one, other in zip(early, late, strict=True)][:2]
        yield (
            f"| {effect:g} | {noise:.0%} | {' | '.join(pairs)} | {early[2]:.1f} | {late[2]:.1f} |"
        )


def ended(runs: int, effect: float, noise: float, *, claims: bool) -> tuple[float, float, float]:
    """Return the shares of false verdicts and of intervals that hold the truth, and the blocks."""
    draw, false, covered, blocks = Random(1), 0, 0, 0  # noqa: S311 - no secret
    for _ in range(runs):
        logs = [draw.gauss(log(effect), noise) for _ in range(60)]
        n, low, high = decided_or_narrow(logs, claims=claims)
        false += high < 1 if effect > 1 else not low <= 1 <= high
        covered += low <= effect <= high
        blocks += n
    return false / runs, covered / runs, blocks / runs


def decided_or_narrow(logs: list[float], *, claims: bool) -> tuple[int, float, float]:
    """Return the number of blocks at which a claim or its width ends a run, and the interval."""
    for n in range(8, len(logs) + 1):
        plain = t_of_logs(logs[:n], "paired t of log-ratios", 0.95)
        estimate = at_level(plain, 0.95, stopped=True)
        ends = confidence_sequence(estimate, SEQUENCE) if claims else None
        decided = ends is not None and not ends[0] <= 1 <= ends[1]
        over = decided or enough([estimate], n, CLAIMED, most=len(logs)).stop
        if over and estimate.interval is not None:
            return n, *estimate.interval
    raise AssertionError


def narrow_enough(draw: Random, noise: float, *, inside: bool) -> tuple[int, float, float]:
    """Return the number of blocks at which a run ends, and its interval."""
    logs = [draw.gauss(0, noise * WIDTH) for _ in range(30)]
    for n in range(8, 31):
        plain = t_of_logs(logs[:n], "paired t of log-ratios", 0.95)
        estimate = at_level(plain, 0.95, stopped=inside)
        if enough([estimate], n, WIDTH).stop and estimate.interval is not None:
            return n, *estimate.interval
    raise AssertionError


if __name__ == "__main__":
    main()
