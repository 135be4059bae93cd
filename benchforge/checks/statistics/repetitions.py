"""Enough blocks, the placebo, and what scatters between blocks (S3 to S6)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from benchforge.checks.limits import Limits
from benchforge.model.check import Check
from benchforge.model.summary import Placebo
from benchforge.model.trial import Trial
from benchforge.stats.compare import log_ratios
from benchforge.stats.interval import LEAST, deviation
from benchforge.stats.outliers import outliers

Rates = Mapping[int, float]
"Responses per second, by block."


def of_comparison(cases: Sequence[Sequence[Trial]], limits: Limits) -> Iterator[Check]:
    """Yield what the believed trials of each case say, by their complete responses per second."""
    if not all(cases):
        believed = sum(map(bool, cases))
        says = f"{believed} of {len(cases)} cases have a trial that is believed: nothing to compare"
        yield limits.check("S3", "apparatus", 0, says, scope="comparison")
        if len(cases) > 1:
            yield limits.check("S5", "apparatus", None, says, scope="comparison")
        yield limits.check("S6", "behaviour", None, says, scope="comparison")
        return
    rates = [_rates(trials) for trials in cases]
    names = [trials[0].case.server for trials in cases]
    pairs = list(combinations(range(len(cases)), 2)) or [(0, 0)]
    blocks = min(len(rates[a].keys() & rates[b].keys()) for a, b in pairs)
    yield _repetitions(blocks, len(cases), limits)
    if len(cases) > 1:
        yield _dispersion(rates, names, limits)
    yield from _outliers(rates, names, limits)


def of_placebo(placebo: Placebo, limits: Limits) -> Check:
    """Return whether the same case, measured twice, was told apart: then nothing here counts."""
    found = placebo.ratio
    of = placebo.of.title
    if found.low is None or found.high is None or placebo.apart is None:
        says = f"{placebo.of.server} twice: no interval of what differs by itself: {found.why}"
        return limits.check("S4", "apparatus", None, says, scope="session", of=of)
    differs = not found.low <= 1 <= found.high
    interval = f"{found.low:.3f} to {found.high:.3f} in {found.n} blocks"
    if differs:
        says = (
            f"{placebo.of.server} differs from itself in {placebo.metric} (99 %: {interval}): "
            "something else than the servers makes the differences; find it and measure again"
        )
    else:
        says = (
            f"this machine told the same thing apart by up to {placebo.apart:.1%} in "
            f"{placebo.metric} ({placebo.of.server} twice, 99 %: {interval})"
        )
    return limits.check(
        "S4",
        "apparatus",
        found.value,
        says,
        status="fail" if differs else "pass",
        scope="session",
        of=of,
    )


def _repetitions(blocks: int, cases: int, limits: Limits) -> Check:
    many = cases >= limits["S3"].number("pairs_of")
    id_ = "S3.many" if many else "S3"
    limit = limits[id_]
    says = f"{blocks} {'block has' if blocks == 1 else 'blocks have'} believed values of all sides"
    if limit.status(blocks) != "pass":
        says += f" of {cases}, each pair of which is compared" if many else ""
        says += f"; raise repeat.blocks to {limit.warn:g} or more"
    return limits.check(id_, "apparatus", blocks, says, scope="comparison")


def _dispersion(rates: Sequence[Rates], names: Sequence[str], limits: Limits) -> Check:
    """Return by how much the ratio of two cases scatters: of the pair where it does most."""
    found: list[tuple[float, str]] = []
    for a, b in combinations(range(len(rates)), 2):
        blocks = sorted(rates[a].keys() & rates[b].keys())
        if len(blocks) < LEAST:
            says = f"{names[a]} and {names[b]}: it takes {LEAST} blocks with values of both"
            return limits.check("S5", "apparatus", None, says, scope="comparison")
        logs = log_ratios([rates[a][one] for one in blocks], [rates[b][one] for one in blocks])
        found.append((deviation(logs), f"{names[a]} / {names[b]}"))
    most, pair = max(found)
    says = f"{pair} scatters by {most:.1%} between blocks"
    if limits["S5"].status(most) != "pass":
        says += ": look for what disturbs the machine, or take more blocks"
    return limits.check("S5", "apparatus", most, says, scope="comparison", of=pair)


def _outliers(rates: Sequence[Rates], names: Sequence[str], limits: Limits) -> Iterator[Check]:
    """Yield for each case how many of its trials lie far off: none has an explanation any more.

    Those with one (a failed check of the apparatus) are not believed, and not among these.
    """
    blocks = sorted(set.intersection(*(set(of) for of in rates)))
    rows = {str(at): [of[block] for block in blocks] for at, of in enumerate(rates)}
    for name, (at, told) in zip(names, outliers(rows).items(), strict=True):
        if told.why:
            yield limits.check("S6", "behaviour", None, told.why, scope="comparison", of=name)
            continue
        values, share = rows[at], len(told.flagged) / len(blocks)
        says = f"{len(told.flagged)} of {len(blocks)} trials of {name} lie far from the others"
        if limits["S6"].status(share) != "pass":
            far = (f"{values[one.at]:,.0f}/s in block {blocks[one.at]}" for one in told.flagged)
            says += f": bimodal, it has two ways to run; these are {', '.join(far)}"
        yield limits.check("S6", "behaviour", share, says, scope="comparison", of=name)


def _rates(trials: Sequence[Trial]) -> Rates:
    return {
        trial.block: trial.reading.responses / trial.reading.seconds
        for trial in trials
        if trial.reading is not None and trial.reading.responses
    }
