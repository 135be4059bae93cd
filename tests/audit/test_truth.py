"""No result that a load can have is called impossible: loads are simulated, tools print them."""

import random

import pytest
from load.audits import audit, false
from load.printers import CLOSED, OPEN, PIPELINES, TIMES_OUT
from load.queues import Setup, simulate

from benchforge.plugin import Fact
from benchforge.results.validity.identities import mean_at_least

FEW, EACH, MANY = 20, 250, 6250
"Loads of each of sixteen tools: 320 in `make test`, and 100,000 in all."


def drawn(tool: str, seed: int) -> Setup:
    """Return a load of the tool: closed, with think time, time-outs, pipelines, or open."""
    random_ = random.Random(f"{tool} {seed}")
    connections = random_.choice((1, 2, 8, 30, 100))
    return Setup(
        connections=connections,
        workers=random_.choice((1, 2, 8, 64)),
        service_s=random_.choice((0.001, 0.005, 0.03)) * random_.uniform(0.5, 2),
        heavy=random_.random() < 0.4,
        think_s=random_.choice((0.0, 0.0, 0.01, 0.2)),
        pipeline=random_.choice((1, 4, 16)) if tool in PIPELINES else 1,
        timeout_s=random_.choice((None, 0.02, 0.1)) if tool in TIMES_OUT else None,
        fails=random_.choice((0.0, 0.0, 0.003, 0.3)),
        rate=random_.choice((50.0, 400.0, 1500.0)) if tool in OPEN else None,
        duration_s=random_.choice((0.2, 0.5, 1.0)),
        body=random_.choice((0, 13, 5000)),
        seed=seed,
    )


@pytest.mark.parametrize("tool", [*CLOSED, *OPEN])
@pytest.mark.parametrize(
    "seeds",
    [
        range(FEW),
        *(
            pytest.param(range(first, first + EACH), marks=pytest.mark.exhaustive)
            for first in range(FEW, FEW + MANY, EACH)
        ),
    ],
)
def test_no_true_result_is_impossible(tool: str, seeds: range) -> None:
    for setup in (drawn(tool, seed) for seed in seeds):
        subject = simulate(setup)
        if len(subject.times) < 2:
            continue
        text = {**CLOSED, **OPEN}[tool](subject)
        options = {"body": Fact(float(setup.body), "B", origin="by the auditor")}
        if tool in PIPELINES:
            options["pipeline"] = Fact(float(setup.pipeline), origin="by the auditor")
        if tool in {"hey", "oha"}:
            options["connections"] = Fact(float(setup.connections), origin="by the auditor")
        audited = audit(text, options)
        assert audited.reader == tool.removesuffix("_text")
        assert not false(audited), (setup, false(audited), text)
        assert audited.checked or tool == "pyperf", text


def test_a_coarse_percentile_bounds_no_mean_twice() -> None:
    """The lowest value of a coarse percentile may be below that of a finer, lower one."""
    assert mean_at_least({50.0: 4.0, 75.0: 3.5, 90.0: 4.0}) == pytest.approx(2.0)
