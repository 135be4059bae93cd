"""Turns again: their order from the run's seed, who ran when, and what the slices add up to."""

from collections.abc import Iterator

from pydantic import JsonValue

from benchforge.errors import BenchforgeError
from benchforge.model.files.file import Parsed
from benchforge.model.trial.trial import Trial
from benchforge.results.recomputed.verified import Recomputed, Values, plain
from benchforge.results.verify.recompute.recomputed import Result
from benchforge.stats.turns import longest_s, order, rounds_of, seed_of
from benchforge.suite.load import of_result
from benchforge.suite.scenarios.turns import all_turns


def planned(result: Result) -> Iterator[Recomputed]:
    """Which scenarios compare clients, which take turns, and how, from the suite's text."""
    header = result.header.model
    try:
        suite = of_result(header, result.registry)
        turns = all_turns(suite)
    except BenchforgeError as error:
        yield result.again("turns", cannot=error.message.splitlines()[0])
        return
    yield result.again("turns", value={label: plain(turn) for label, turn in turns.items()})
    scenarios = dict.fromkeys(case.scenario for case in header.cases)
    measured = (label for label in scenarios if label in suite.scenarios)
    clients: JsonValue = [label for label in measured if suite.scenarios[label].clients]
    yield result.again("clients", value=clients)
    bridges: JsonValue = {
        key: bridge for key, bridge in suite.bridges.items() if key in suite.scenarios
    }
    yield result.again("bridges", value=bridges)
    yield result.again("latencies", value=dict(suite.latencies))


def slices(result: Result) -> Values:
    """The seed, the rounds and the order of all slices; and that no two servers ran at once."""
    by_number = {trial.model.number: trial for trial in result.trials}
    for trial in result.trials:
        model, turns = trial.model, trial.model.turns
        planned = result.header.model.turns.get(model.case.scenario)
        if turns is None:
            if planned is not None and model.measured:
                yield trial.fault("is missing: its scenario takes turns", "turns")
            continue
        if planned is None:
            yield trial.fault("its scenario takes no turns", "turns")
            continue
        seed = seed_of(result.header.model.seed, model.block, planned.group(model.case))
        yield Recomputed(trial, ("turns", "seed"), seed)
        yield Recomputed(trial, ("turns", "rounds"), rounds_of(turns.slice_s, planned.each_s))
        doubled = (planned.slice_s * 2.0**times for times in range(7))
        if turns.slice_s not in {*doubled, longest_s(len(turns.trials))}:
            yield trial.fault("is not the suite's length, doubled or not", "turns", "slice_s")
        if model.number == min(turns.trials):
            yield from _in_order(trial, [by_number.get(number) for number in turns.trials])


def _in_order(first: Parsed[Trial], members: list[Parsed[Trial] | None]) -> Values:
    turns = first.model.turns
    present = [each for each in members if each is not None and each.model.turns is not None]
    if turns is None or len(present) < len(members):
        reason = "a trial that took turns with it is not there"
        yield Recomputed(first, ("turns", "trials"), cannot=reason)
        return
    of_each = [trial.model.turns.slices for trial in present if trial.model.turns is not None]
    end_s = 0.0
    for number, indices in enumerate(order(turns.seed, len(of_each), turns.rounds)):
        for index in indices:
            slice_ = next(iter(of_each[index][number : number + 1]), None)
            if slice_ is None:
                yield present[index].fault(f"round {number + 1} is missing", "turns", "slices")
            elif slice_.start_s < end_s:
                message = "starts while another runs, or not in the order of the seed"
                yield present[index].fault(message, "turns", "slices", number, "start_s")
            end_s = end_s if slice_ is None else max(end_s, slice_.end_s)
