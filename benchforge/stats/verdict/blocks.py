"""Values of a claim's question: one believed value for each block and side."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from benchforge.model.suite.claim import Claim, ClaimInstance
from benchforge.model.summary.doubts import speaks_of
from benchforge.model.summary.summary import CaseSummary, DoubtedTrial, MetricSummary
from benchforge.model.summary.verdict import RejectedBlock
from benchforge.model.values.case_name import CaseName, Identity, identity
from benchforge.model.values.units import RATE
from benchforge.stats.summary.line import levelled
from benchforge.stats.turns import Rounds, explained
from benchforge.text.readable import exact


class Blocks(NamedTuple):
    """The blocks that count, and the reasons for the others."""

    line: MetricSummary | None
    "Metric of the first side; None if it has no metric of that name."
    blocks: tuple[int, ...]
    a: tuple[float, ...]
    b: tuple[float, ...]
    "Values of the second side; empty for a question about `a` alone."
    rejected: tuple[RejectedBlock, ...]
    bounded: bool
    "True if a block is left out because its value is only a lower bound."
    failures: tuple[tuple[tuple[int, int], ...], ...]
    "Number of failed and of all requests by side and block; empty if they are not counted."
    explained: float = 0.0
    "Deviation of a block's log-ratio that its own slices explain, in turns."
    left: tuple[tuple[float, float] | None, ...] = ()
    "Shares of the CPUs that others left to a and to b, by block; None if both are believed."

    @property
    def disturbed(self) -> tuple[int, ...]:
        """Those of `blocks` in which others disturbed both sides."""
        pairs = zip(self.blocks, self.left, strict=False)
        return tuple(block for block, free in pairs if free is not None)

    @property
    def mean_left(self) -> tuple[float, float]:
        """Shares of the CPUs that others left to each side in disturbed blocks, on average."""
        shares = [free for free in self.left if free is not None] or [(1.0, 1.0)]
        return fmean(a for a, _ in shares), fmean(b for _, b in shares)

    def levelled(self) -> "Blocks":
        """Return them as if others had left all CPUs to each side."""
        if self.line is None:
            return self
        better, shares = self.line.better, [free or (1.0, 1.0) for free in self.left]
        a = (levelled(value, free, better) for value, (free, _) in zip(self.a, shares, strict=True))
        b = (levelled(value, free, better) for value, (_, free) in zip(self.b, shares, strict=True))
        return self._replace(a=tuple(a), b=tuple(b))


class _CaseValues(NamedTuple):
    """Values of a case for a line, by block, or the reason for none."""

    line: MetricSummary | None
    values: Mapping[int, float]
    why: Mapping[int, str]
    bounded: bool
    failures: Mapping[int, tuple[int, int]]
    disturbed: Mapping[int, DoubtedTrial]
    "Disturbed values by block. Each counts next to a value that was disturbed alike."
    rounds: Rounds


Cases = Mapping[Identity, CaseSummary]
"The cases of a summary."


def blocks_of(claim: Claim, instance: ClaimInstance, cases: Cases) -> Blocks:
    """Return the blocks of a question.

    A block counts where each side has a value of a believed trial that is known and no lower
    bound; for a ratio of two cases also where others disturbed both trials. Raises KeyError where
    there is no such case.
    """
    sizes = [len(term.cases) for term in (instance.a, instance.b) if term is not None]
    with_companion = claim.hypothesis.form == "ratio" and sizes == [1, 1]

    def values_of(name: CaseName) -> _CaseValues:
        case = cases[identity(name)].named_as(name)
        return _case_values(case, claim, with_companion=with_companion)

    terms = {"a": instance.a, "b": instance.b}
    sides = [(side, [*map(values_of, term.cases)]) for side, term in terms.items() if term]
    all_sides = [
        (f"{side}, what is subtracted" if index else side, case)
        for side, ones in sides
        for index, case in enumerate(ones)
    ]
    blocks = sorted({block for _, case in all_sides for block in (*case.values, *case.why)})
    shared_blocks = [
        block
        for block in blocks
        if all(block in case.values for _, case in all_sides) and not _apart(all_sides, block)
    ]
    a, *b = ([_value(ones, block) for block in shared_blocks] for _, ones in sides)
    return Blocks(
        line=all_sides[0][1].line,
        blocks=tuple(shared_blocks),
        a=tuple(a),
        b=tuple(b[0]) if b else (),
        rejected=tuple(_rejected(all_sides, blocks)),
        bounded=any(case.bounded for _, case in all_sides),
        failures=_failures([ones for _, ones in sides], shared_blocks),
        explained=_explained([case for _, case in all_sides]) if with_companion else 0.0,
        left=tuple(_left(all_sides, block) for block in shared_blocks),
    )


def _explained(sides: Sequence[_CaseValues]) -> float:
    rates = all(side.line is not None and side.line.measurand == RATE for side in sides)
    return explained(*(side.rounds for side in sides)) if rates else 0.0


_Sides = Sequence[tuple[str, _CaseValues]]


def _apart(all_sides: _Sides, block: int) -> bool:
    """Whether others disturbed one side of a block, and not the other."""
    return len({block in case.disturbed for _, case in all_sides}) > 1


def _left(all_sides: _Sides, block: int) -> tuple[float, float] | None:
    shares = [case.disturbed[block].left for _, case in all_sides if block in case.disturbed]
    return (shares[0], shares[1]) if len(shares) == len(("a", "b")) else None


def _value(ones: Sequence[_CaseValues], block: int) -> float:
    minuend, *minus = (case.values[block] for case in ones)
    return minuend - sum(minus)


def _rejected(all_sides: _Sides, blocks: Sequence[int]) -> Iterator[RejectedBlock]:
    for block in blocks:
        reasons = [f"{side}: {case.why[block]}" for side, case in all_sides if block in case.why]
        if not reasons and _apart(all_sides, block):
            reasons = [
                f"{side}: {_doubt(case.disturbed[block])}, and the other side was not disturbed"
                for side, case in all_sides
                if block in case.disturbed
            ]
        if reasons:
            yield RejectedBlock(block=block, why="; ".join(reasons))


def _failures(
    sides: Sequence[Sequence[_CaseValues]], blocks: Sequence[int]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    if any(len(ones) > 1 or {*blocks} - ones[0].failures.keys() for ones in sides):
        return ()
    return tuple(tuple(ones[0].failures[block] for block in blocks) for ones in sides)


def _case_values(case: CaseSummary, claim: Claim, *, with_companion: bool) -> _CaseValues:
    """Return the values of a case; `with_companion`: those that others disturbed count, too."""
    line = case.line(claim.metric, claim.of)
    values: dict[int, float] = {}
    failures: dict[int, tuple[int, int]] = {}
    # Others that took CPU make some requests fail: no ratio is free of that.
    with_companion = with_companion and line is not None and not line.of_failures
    met = [trial for trial in case.doubted if trial.disturbed and trial.used]
    disturbed = {trial.block: trial for trial in met if with_companion}
    reasons = dict(_without(case, claim, line, disturbed))
    bounded = False
    for trial_sample in () if line is None else line.samples:
        sample = trial_sample.sample
        if trial_sample.block in reasons:
            continue
        if sample.value is None:
            reasons[trial_sample.block] = f"trial {trial_sample.trial}: {sample.why}"
        elif sample.lower_bound:
            least = f"known is only that it is {exact(sample.value)} or more"
            reasons[trial_sample.block] = f"trial {trial_sample.trial}: {least}"
            bounded = True
        else:
            values[trial_sample.block] = sample.value
            if sample.failed is not None and sample.requests is not None:
                failures[trial_sample.block] = sample.failed, sample.requests
    for block in range(1, case.planned + 1):
        if block not in values:
            reasons.setdefault(block, "not measured")
    return _CaseValues(line, values, reasons, bounded, failures, disturbed, case.rounds)


def _without(
    case: CaseSummary, claim: Claim, line: MetricSummary | None, disturbed: Collection[int]
) -> Iterator[tuple[int, str]]:
    """Yield each block without a believed trial, with the reason; its last reason counts."""
    if line is None:
        names = [each.of or "the whole" for each in case.metrics if each.metric == claim.metric]
        has = f"it has: {', '.join(names)}" if names else "it has none of that metric"
        for block in range(1, case.planned + 1):
            yield block, f"no {claim.of or 'value'} of {claim.metric}: {has}"
    used = {sample.block for each in case.metrics for sample in each.samples}
    for failed in case.failed:
        if failed.block not in used:
            yield failed.block, f"trial {failed.trial} failed: {failed.failure.message}"
    for doubted in case.doubted:
        if doubted.used and doubted.block not in disturbed:
            yield doubted.block, _doubt(doubted)
    for doubted in case.latency_doubted:
        if checks := tuple(check for check in doubted.checks if speaks_of(check, line)):
            times = doubted.model_copy(update={"checks": checks})
            yield doubted.block, f"{_doubt(times)}, of its response times"


def _doubt(doubted: DoubtedTrial) -> str:
    return f"trial {doubted.trial} is not believed: {', '.join(doubted.failed)}"
