"""The header again: the plan from its seed; metrics, claims and tables from the suite's text."""

from collections import Counter
from collections.abc import Iterator

from benchforge.errors import BenchforgeError
from benchforge.graph import steps
from benchforge.model.file import Fault
from benchforge.run.header import uses
from benchforge.run.verify.again import Again, Result, plain
from benchforge.stats.precision import precise
from benchforge.stats.whole import whole
from benchforge.suite.faults import SuiteErrors


def order(result: Result) -> Iterator[Again | Fault]:
    """The plan's order and its seeds, from the seed of the header."""
    header = result.header.model
    sizes = Counter(case.scenario for case in header.cases)
    measured = Counter(one.case.scenario for one in header.plan)
    ordinary = max(
        (one.block for one in header.plan if one.case.scenario not in header.finds), default=0
    )
    blocks: list[int] = []
    for scenario, size in sizes.items():
        find = header.finds.get(scenario)
        blocks.append(ordinary if find is None else find.rounds)
        if measured[scenario] != blocks[-1] * size:
            said = f"{measured[scenario]} of {scenario} are not {blocks[-1]} blocks of {size} cases"
            yield result.header.fault(said, "plan")
            return
    for number, step in enumerate(steps(list(sizes.values()), blocks, header.seed)):
        place = {"block": step.block, "position": step.position, "seed": step.seed}
        for name, value in place.items():
            yield Again(result.header, ("plan", number, name), value)
        yield Again(result.header, ("plan", number, "case"), plain(header.cases[step.number]))


def places(result: Result) -> Iterator[Again | Fault]:
    """What each trial measured, and its seed, from the plan."""
    plan = {(one.block, one.position): one for one in result.header.model.plan}
    for trial in result.trials:
        planned = plan.get((trial.model.block, trial.model.position))
        if planned is None:
            yield trial.fault("the plan has no such place", "position")
        else:
            yield Again(trial, ("case",), plain(planned.case))
            yield Again(trial, ("seed",), planned.seed)


def looks(result: Result) -> Iterator[Again | Fault]:
    """What ends the run, from the suite; and whether each look before its end said to go on."""
    header, trials = result.header.model, [one.model for one in result.trials]
    until = result.suite.until
    yield Again(result.header, ("until",), None if until is None else plain(until))
    if header.until is None or not result.ours:
        return
    for blocks in range(header.until.least, whole(header, trials)):
        there = [trial for trial in trials if trial.block <= blocks]
        later = [one for one in result.trials if one.model.block > blocks]
        if min(one.model.number for one in later) < max(trial.number for trial in there):
            continue  # some were measured again: what was looked at is not there any more
        try:
            found = precise(header, there, result.suite.metrics)
        except Exception as error:  # noqa: BLE001 - a plugin's code, on numbers of any kind
            yield Again(result.header, ("until",), cannot=f"{type(error).__name__}: {error}")
            return
        if found is not None and found.stop:
            yield later[0].fault(f"{found.told}; but it went on", "block")


def metrics(result: Result) -> Iterator[Again]:
    """The metrics of the header, from the suite's text."""
    yield Again(result.header, ("metrics",), [plain(one) for one in uses(result.suite.metrics)])


def asked(result: Result) -> Iterator[Again]:
    """What is claimed and shown of the cases, from the suite's text."""
    try:
        asks = result.suite.asks(result.header.model.cases)
    except SuiteErrors as error:
        yield Again(result.header, ("claims",), cannot=error.message.splitlines()[0])
        return
    yield Again(result.header, ("smoke",), result.suite.smoke)
    yield Again(result.header, ("title",), result.suite.title)
    yield Again(result.header, ("titles",), dict(asks.titles))
    yield Again(result.header, ("takes",), {key: list(one) for key, one in asks.takes.items()})
    yield Again(result.header, ("tables",), {key: plain(one) for key, one in asks.tables.items()})
    yield Again(result.header, ("claims",), [plain(one) for one in asks.claims])


def finds(result: Result) -> Iterator[Again]:
    """What scenarios look for, from the suite's text."""
    header = result.header.model
    for label in dict.fromkeys(case.scenario for case in header.cases):
        try:
            find = result.suite.find(label)
        except (BenchforgeError, ValueError) as error:
            yield Again(result.header, ("finds",), cannot=f"scenarios.{label}.find: {error}")
            continue
        if find is not None or label in header.finds:
            yield Again(result.header, ("finds", label), None if find is None else plain(find))
