"""What the verdicts of a summary must be to its claims and to its samples."""

import math
from collections.abc import Iterator, Mapping, Sequence

from benchforge.model.claim import Asked, Claim, Term
from benchforge.model.file import Fault, Parsed
from benchforge.model.meaning.plan import identity
from benchforge.model.meaning.said import Said, beneath
from benchforge.model.summary import CaseSummary, Summary
from benchforge.model.verdict import Verdict

_LEAST = 3
_ROUNDING = 1e-9  # relative: of a difference and of bounds, as `verify` compares
_RATIO = "paired t of log-ratios"


def judged(summary: Parsed[Summary]) -> Iterator[Fault]:
    """Say what in the verdicts cannot be."""
    told = summary.model
    questions = [(claim, asked) for claim in told.claims for asked in claim.asked]
    expected = 0 if told.smoke else len(questions)
    if len(told.verdicts) != expected:
        said = f"{len(told.verdicts)}, but {expected} questions are to be answered"
        yield summary.fault(said, "verdicts")
        return
    cases = {identity(one.case): one for one in told.cases}
    for number, (verdict, (claim, asked)) in enumerate(zip(told.verdicts, questions, strict=False)):
        for message, inner in beneath(("verdicts", number), _verdict(verdict, claim, asked, cases)):
            yield summary.fault(message, *inner)


def _verdict(
    verdict: Verdict, claim: Claim, asked: Asked, cases: Mapping[str, CaseSummary]
) -> Iterator[Said]:
    if (verdict.claim, verdict.at) != (claim.label, asked.at):
        yield (
            f"expected {claim.label!r} {asked.at or ''}: verdicts are in order".rstrip(),
            ("claim",),
        )
        return
    blocks = verdict.blocks
    if list(blocks) != sorted({*blocks} - {one.block for one in verdict.rejected}):
        yield "blocks are in order, each once, and none that is rejected", ("blocks",)
    for name, values, term in (("a", verdict.a, asked.a), ("b", verdict.b, asked.b)):
        if len(values) != (0 if term is None else len(blocks)):
            yield "has not one value for each of `blocks`", (name,)
        elif term is not None:
            yield from beneath((name,), _values(values, blocks, term, claim, cases))
    decided = verdict.state in {"holds", "fails"}
    if decided and len(blocks) < _LEAST:
        yield f"is decided by {len(blocks)} blocks", ("state",)
    if verdict.state == "invalid" and not verdict.why:
        yield "does not say why it is invalid", ("why",)
    if not verdict.sides and verdict.estimate.n != len(blocks):
        yield f"{verdict.estimate.n}, but there are {len(blocks)} blocks", ("estimate", "n")
    if decided and not _agrees(verdict, claim):
        yield f"{verdict.state}, but the interval says otherwise", ("state",)


def _values(
    values: Sequence[float],
    blocks: Sequence[int],
    term: Term,
    claim: Claim,
    cases: Mapping[str, CaseSummary],
) -> Iterator[Said]:
    """Compare each value with the samples that it is of."""
    known = [_by_block(cases.get(identity(case)), claim) for case in term.cases]
    for number, (block, value) in enumerate(zip(blocks, values, strict=True)):
        parts = [one.get(block) for one in known]
        if None in parts:
            yield f"block {block} has no such sample", (number,)
            continue
        first, *rest = (part for part in parts if part is not None)
        expected = first - sum(rest)
        if not math.isclose(value, expected, rel_tol=_ROUNDING, abs_tol=_ROUNDING * abs(first)):
            yield f"{value}, but the samples of block {block} give {expected}", (number,)


def _by_block(case: CaseSummary | None, claim: Claim) -> dict[int, float]:
    if case is None:
        return {}
    return {
        one.block: one.sample.value
        for line in case.lines
        if (line.metric, line.of) == (claim.metric, claim.of)
        for one in line.samples
        if one.sample.value is not None
    }


def _agrees(verdict: Verdict, claim: Claim) -> bool:
    """Whether the interval can have decided so: it lies on one side of what is asked for.

    Counts of failures also look at worst trials; there the interval need not say it all.
    """
    question, ends = claim.question, verdict.estimate.interval
    if ends is None:
        return verdict.estimate.value is not None
    if verdict.sides and question.form == "ratio":
        return True
    low, high = _region(claim, ratio=verdict.estimate.method == _RATIO)
    inside = _beyond(ends[0], low) and _beyond(high, ends[1])
    outside = _beyond(low, ends[1]) or _beyond(ends[0], high)
    if verdict.state == ("holds" if question.relation in {">=", "<="} else "fails"):
        margin = 1 + claim.margin
        same = (
            verdict.estimate.method == _RATIO
            and question.relation != "=="
            and _beyond(ends[0], question.bound / margin)
            and _beyond(question.bound * margin, ends[1])
        )
        return same or (inside if verdict.state == "holds" else outside)
    return inside if verdict.state == "holds" else outside


def _region(claim: Claim, *, ratio: bool) -> tuple[float, float]:
    question = claim.question
    # A ratio that could not be formed is asked of a difference.
    bound = 0.0 if question.form == "ratio" and not ratio else question.bound
    if question.tolerance is not None:
        if question.form == "ratio":
            return bound / (1 + question.tolerance), bound * (1 + question.tolerance)
        return bound - question.tolerance, bound + question.tolerance
    return (bound, math.inf) if question.relation in {">", ">="} else (-math.inf, bound)


def _beyond(one: float, other: float) -> bool:
    return one > other or math.isclose(one, other, rel_tol=_ROUNDING)
