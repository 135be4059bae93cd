"""Size of a finding: the share by which it may move a ratio; measured, bounded or unknown.

A ratio moves by the quotient of two factors: how much faster each server would be without a cause.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from statistics import fmean
from typing import Final

from benchforge.checks.answers.alike import first_answer
from benchforge.checks.causes import spoken
from benchforge.checks.machine import sharing
from benchforge.checks.seen import cpus_of, of_roles
from benchforge.model.summary.summary import Comparison
from benchforge.model.trial.answers.answer import Answer
from benchforge.model.trial.check import Check
from benchforge.model.trial.trial import Trial
from benchforge.model.values.case_name import identity
from benchforge.stats.summary.case import used_of
from benchforge.stats.verdict.comparison import Moves

HEADER_BYTE_SHARE: Final = 1e-3
"""Share of a response's CPU time that a byte of its headers takes, at most.

docs/explanation/sizes.md has measurements.
"""
LOG_BYTE_S: Final = 2e-6
"CPU time of a byte that a server logs, at most: as above."
_STEPS: Final = 60  # of a bisection: a double has no more digits
_MOST_LOAD: Final = 16.0  # of the tool's demand by the server's: more has no use
_CAUSES: Final = {"N4": "N1", "I2": "N1", "L2": "L1"}
"Checks that measure what another one measures, too: the larger size counts."
Factor = Callable[[Trial], float | None]
"How much faster a server would be in a trial without a cause; None if that is unknown."


def sizes(comparison: Comparison, trials: Sequence[Trial], checks: Sequence[Check]) -> Moves:
    """Return the share by which each cause may move a ratio, by a check's id; unknown is not 0.

    `checks` are those of the whole result.
    """
    cases = [
        used_of([trial for trial in trials if identity(trial.case) == identity(case)])
        for case in comparison.cases
    ]
    measured = [[trial for trial in of_case if trial.measured] for of_case in cases]
    if len(measured) < 2 or not all(measured):  # noqa: PLR2004 - a ratio has two sides
        return Moves()
    by_id = {id_: _size(measured, factor) for id_, factor in _FACTORS.items()}
    by_id["E4"] = _headers([first_answer(trials) for trials in measured])
    ceilings = [check.value for check in checks if check.id == "L2" and check.value is not None]
    loads = (trial.load for trial in chain.from_iterable(measured))
    connections = [load.connections for load in loads if load is not None and load.connections]
    if ceilings and connections:
        by_id["L2"] = unlimited(max(ceilings), min(connections)) - 1
    spoke = {*spoken(comparison.checks), *spoken(checks)}
    for trial in chain.from_iterable(measured):
        spoke |= {*spoken(trial.checks)}
    sized = {id_: size for id_, size in by_id.items() if size is not None and id_ in spoke}
    causes: dict[str, float] = {}
    for id_, size in sized.items():
        cause = _CAUSES.get(id_, id_)
        causes[cause] = max(size, causes.get(cause, 0.0))
    # Where a trial does not tell it, the others speak for its side; where none does, it is unknown.
    shares = ([*map(sharing.foreign_share, trials)] for trials in measured)
    sides = [[share for share in side if share is not None] for side in shares]
    others = max(map(fmean, sides)) if all(sides) else None
    return Moves(sized, sum(causes.values()), others)


def _size(cases: Sequence[Sequence[Trial]], factor: Factor) -> float | None:
    factors = []
    for trials in cases:
        values = [factor(trial) for trial in trials]
        numbers = [value for value in values if value is not None]
        if len(numbers) < len(values):
            return None
        factors.append(fmean(numbers))
    return max(factors) / min(factors) - 1


def _without(share: float | None) -> float | None:
    """Return the factor of a cause that takes a share of the time; None where it takes all."""
    return None if share is None or not 0 <= share < 1 else 1 / (1 - share)


def _largest(trial: Trial, id_: str) -> float | None:
    values = [row.value for row in trial.checks if row.id == id_ and row.value is not None]
    return max(values, default=None)


def _value(id_: str) -> Factor:
    return lambda trial: _without(_largest(trial, id_))


def _waits(trial: Trial) -> float | None:
    """Return the factor of a server that never waits, by the utilization law of its only CPU."""
    used = _largest(trial, "W2") if cpus_of(trial, "server") == 1 else None
    return max(1.0, 1 / used) if used and trial.turns is not None else None


def _tool(trial: Trial) -> float | None:
    used = _largest(trial, "L1")
    if used is None or trial.load is None or not trial.load.connections:
        return None
    return unlimited(used, trial.load.connections)


def unlimited(share: float, connections: int) -> float:
    """Return how much faster a server would be if the load tool took no time.

    The two are a closed network of two queues with exponential times, of which the tool is busy for
    a share of the time: regular times, and a tool with several threads, make the factor less.
    """

    def flow(demand: float) -> float:
        """Return the server's share of busy time, by the demand at the tool over its own."""
        states = [demand**number for number in range(connections + 1)]
        return sum(states[:-1]) / sum(states)

    low, high = 0.0, _MOST_LOAD
    for _ in range(_STEPS):
        demand = (low + high) / 2
        low, high = (demand, high) if demand * flow(demand) < share else (low, demand)
    return 1 / flow(low)


def _headers(answers: Sequence[Answer | None]) -> float | None:
    """Return the size of headers that others do not send; None if answers differ in more."""
    kinds = {it and (it.version, it.headers.get("content-encoding")) for it in answers}
    lengths = [it.header_bytes for it in answers if it is not None and it.header_bytes is not None]
    if len(kinds) > 1 or len(lengths) < len(answers):
        return None
    factor = _without((max(lengths) - min(lengths)) * HEADER_BYTE_SHARE)
    return factor - 1 if factor is not None and factor > 1 else None


def _logs(trial: Trial) -> float | None:
    used = [usage.cpu_s for usage in of_roles(trial, "server")]
    if trial.reading is None or not trial.reading.responses or not used or None in used:
        return None
    cpu_s = sum(seconds or 0.0 for seconds in used) / trial.reading.responses
    written = [row.value for row in trial.checks if row.id == "D3" and row.value is not None]
    return _without(sum(written) * LOG_BYTE_S / cpu_s) if cpu_s and written else None


_FACTORS: Final[Mapping[str, Factor]] = {
    **dict.fromkeys(("N1", "I2"), lambda trial: _without(sharing.foreign_share(trial))),
    "N4": _value("N4"),
    "L1": _tool,
    "D3": _logs,
    "W2": _waits,
}
