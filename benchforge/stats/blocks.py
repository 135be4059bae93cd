"""What a question of a claim rests on: one believed value a block and side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchforge.model.claim import Asked, Claim, Term
from benchforge.model.summary import CaseSummary, DoubtedTrial, Line
from benchforge.model.times import speaks_of
from benchforge.model.trial import CaseName
from benchforge.model.verdict import Rejected
from benchforge.stats.groups import Identity, identity


@dataclass(frozen=True)
class Blocks:
    """The blocks that both sides have, and why the others do not count."""

    line: Line | None
    "What is looked at, of the first side; None where it has nothing of that name."
    blocks: tuple[int, ...]
    a: tuple[float, ...]
    b: tuple[float, ...]
    "Empty where a alone is asked about."
    rejected: tuple[Rejected, ...]
    bounded: bool
    "Whether a block is left out because its value is only a lower bound."
    failures: tuple[tuple[tuple[int, int], ...], ...]
    "By side and block: how many requests failed, of how many; empty where that is not counted."


@dataclass(frozen=True)
class _Told:
    """What one case tells of a line: by block its value, or why it has none."""

    line: Line | None
    values: Mapping[int, float]
    why: Mapping[int, str]
    bounded: bool
    failures: Mapping[int, tuple[int, int]]


Cases = Mapping[Identity, CaseSummary]
"The cases of a summary."


def blocks_of(claim: Claim, asked: Asked, cases: Cases) -> Blocks:
    """Return what there is to answer a question with.

    A block counts where each side has a value of a believed trial that is known and no lower
    bound. Raises KeyError where there is no such case.
    """

    def told(name: CaseName) -> _Told:
        return _told(cases[identity(name)], claim)

    sides = [("a", asked.a, list(map(told, asked.a.cases)))]
    if asked.b is not None:
        sides.append(("b", asked.b, list(map(told, asked.b.cases))))
    every = [
        (_named(side, term, of), one) for side, term, ones in sides for of, one in enumerate(ones)
    ]
    blocks = sorted({block for _, one in every for block in (*one.values, *one.why)})
    left = [block for block in blocks if all(block in one.values for _, one in every)]
    a, *b = ([_value(ones, block) for block in left] for _, _, ones in sides)
    return Blocks(
        line=every[0][1].line,
        blocks=tuple(left),
        a=tuple(a),
        b=tuple(b[0]) if b else (),
        rejected=tuple(_rejected(every, blocks)),
        bounded=any(one.bounded for _, one in every),
        failures=_failures([ones for _, _, ones in sides], left),
    )


def _value(ones: Sequence[_Told], block: int) -> float:
    of, *minus = (one.values[block] for one in ones)
    return of - sum(minus)


def _named(side: str, term: Term, of: int) -> str:
    return f"{side}, what is subtracted" if of else side


def _rejected(every: Sequence[tuple[str, _Told]], blocks: Sequence[int]) -> Iterator[Rejected]:
    for block in blocks:
        said = [f"{side}: {one.why[block]}" for side, one in every if block in one.why]
        if said:
            yield Rejected(block=block, why="; ".join(said))


def _failures(
    sides: Sequence[Sequence[_Told]], blocks: Sequence[int]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    if any(len(ones) > 1 or any(one not in ones[0].failures for one in blocks) for ones in sides):
        return ()
    return tuple(tuple(ones[0].failures[block] for block in blocks) for ones in sides)


def _told(case: CaseSummary, claim: Claim) -> _Told:
    line = next(
        (one for one in case.lines if (one.metric, one.of) == (claim.metric, claim.of)), None
    )
    values: dict[int, float] = {}
    failures: dict[int, tuple[int, int]] = {}
    why = dict(_without(case, claim, line))
    bounded = False
    for one in () if line is None else line.samples:
        sample = one.sample
        if one.block in why:
            continue
        if sample.value is None:
            why[one.block] = f"trial {one.trial}: {sample.why}"
        elif sample.at_least:
            why[one.block] = f"trial {one.trial}: known is only that it is {sample.value:g} or more"
            bounded = True
        else:
            values[one.block] = sample.value
            if sample.failed is not None and sample.requests is not None:
                failures[one.block] = sample.failed, sample.requests
    for block in range(1, case.planned + 1):
        if block not in values:
            why.setdefault(block, "not measured")
    return _Told(line, values, why, bounded, failures)


def _without(case: CaseSummary, claim: Claim, line: Line | None) -> Iterator[tuple[int, str]]:
    """Yield each block that has no believed trial, and why; what is said last counts."""
    if line is None:
        names = [one.of or "the whole" for one in case.lines if one.metric == claim.metric]
        has = f"it has: {', '.join(names)}" if names else "it has none of that metric"
        for block in range(1, case.planned + 1):
            yield block, f"no {claim.of or 'value'} of {claim.metric}: {has}"
    used = {one.block for each in case.lines for one in each.samples}
    for failed in case.failed:
        if failed.block not in used:
            yield failed.block, f"trial {failed.trial} failed: {failed.failure.message}"
    for one in case.doubted:
        if one.used:
            yield one.block, _doubt(one)
    for one in case.latency_doubted:
        if checks := tuple(check for check in one.checks if speaks_of(check, line)):
            times = one.model_copy(update={"checks": checks})
            yield one.block, f"{_doubt(times)}, of its response times"


def _doubt(one: DoubtedTrial) -> str:
    named = dict.fromkeys(f"{check.id} {check.name}".strip() for check in one.checks)
    return f"trial {one.trial} is not believed: {', '.join(named)}"
