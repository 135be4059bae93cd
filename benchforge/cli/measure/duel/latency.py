"""The first load of each server of a duel, and what it tells: a rate for response times."""

from collections.abc import Mapping
from typing import NamedTuple

from benchforge.cli.measure.duel.suite import WARMUP_S, Question
from benchforge.cli.measure.serve.server import Served
from benchforge.errors import OutputDamaged, TrialFailed
from benchforge.model.trial.reading import Reading
from benchforge.parts.fault import reading_of, warming
from benchforge.parts.site import Output
from benchforge.run.trial.stages.drive import LoadToolRun, drive
from benchforge.run.trial.stages.warm_up import target_of
from benchforge.suite.toml.document import Tables, as_table
from benchforge.text.readable import amount, figure

SCENARIO, LOADER = "at-one-rate", "at-rate"
_FIRST_LOAD_S = 1.0
_SPAN_S = 0.3
_GROWS = 1.05  # times the rate after the warm-up: then the server still becomes faster
_SHARE = 0.5  # of the rate that the slowest server answered
_LATER = 0.7  # of the first start, which reads files from the disk
_EACH_S = 5.0  # of a server, in all blocks
_AROUND_S = 0.35  # of a trial: probes, two starts of its load tool, its stop
_LONGEST_S = 1.0
_BLOCKS = {4: 0.5, 3: 0.2}
"Number of blocks, and for how long a load is in as many at least, in seconds."
LEAST_TIME_S = 30.0
"Limit of a measurement from which on servers have a first load, in seconds."


class FirstLoad(NamedTuple):
    """What a server answered in a short closed loop, right after its first start."""

    per_s: float = 0.0
    "Responses per second; 0 if the load failed."
    warm: bool = False
    "True if its rate was seen not to grow after a short warm-up."


class LatencyPlan(NamedTuple):
    """The rate that all servers receive, and for how long."""

    rate: float
    load_s: float
    blocks: int


def first_load(served: Served) -> FirstLoad:
    """Load a server for a moment, and return what it answered."""
    scope, driver = served.scope, warming(served.scope.case.driver, _FIRST_LOAD_S)
    target = target_of(scope, served.answering.probe)
    tool = LoadToolRun(driver, target, "first-load")
    try:
        reading = reading_of(driver, Output(target, drive(scope.sandbox, tool, scope.recorder)))
    except (TrialFailed, OutputDamaged):
        return FirstLoad()
    return FirstLoad(reading.responses / reading.seconds, is_warm(reading))


def is_warm(reading: Reading) -> bool:
    """Return True if a load's rate did not grow after a short warm-up."""
    series = reading.series
    if series is None:
        return False
    bins, first = round(_SPAN_S / series.bin_s), round(WARMUP_S / series.bin_s)
    early, late = series.completed[first : first + bins], series.completed[-bins:]
    if not sum(early) or not sum(late):
        return False
    # Noise makes one part faster than another, and seldom each bin than each other.
    return sum(late) <= _GROWS * sum(early) or min(late) <= max(early)


def latency_plan(
    loads: Mapping[str, FirstLoad], starts_s: Mapping[str, float], question: Question
) -> LatencyPlan | str:
    """Return at which rate response times are measured, or why they are not.

    `starts_s` has the seconds that each server takes to start.
    """
    if question.time_s < LEAST_TIME_S:
        return f"--time is below {amount('s', LEAST_TIME_S)}"
    slowest = min(loads, key=lambda label: loads[label].per_s)
    if not loads[slowest].per_s:
        return f"the first load of {slowest} failed"
    rate = max(1.0, float(f"{_SHARE * loads[slowest].per_s:.2g}"))
    start_s = _LATER * sum(starts_s.values()) / len(starts_s)
    warmup_s = WARMUP_S if question.warm else _FIRST_LOAD_S
    for blocks, least_s in _BLOCKS.items():
        load_s = _EACH_S / blocks - start_s - warmup_s - _AROUND_S
        if load_s >= least_s:
            return LatencyPlan(rate, round(min(_LONGEST_S, load_s), 1), blocks)
    slow = (
        f"the servers take {amount('s', start_s)} to start and {amount('s', warmup_s)} to warm up"
    )
    return f"{slow}, which leaves no time for it"


def with_latency(tables: Tables, plan: LatencyPlan) -> Tables:
    """Return the tables of a duel with a scenario that measures response times at one rate."""
    loaders, scenarios = as_table(tables["loaders"]), as_table(tables["scenarios"])
    load, duel = as_table(loaders["load"]), as_table(scenarios["duel"])
    at_rate: Tables = {
        **load,
        "use": "pace",
        "duration": f"{plan.load_s:g}s",
        "rate": f"{figure(plan.rate, 15).replace(',', '')}/s",
    }
    scenario: Tables = {
        **{key: value for key, value in duel.items() if key != "title"},
        "loaders": [LOADER],
        "latency_of": "duel",
        "interleave": "off",
        "blocks": plan.blocks,
    }
    return {
        "loaders": {**loaders, LOADER: at_rate},
        "scenarios": {**scenarios, SCENARIO: scenario},
    }
