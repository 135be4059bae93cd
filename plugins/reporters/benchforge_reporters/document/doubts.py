"""What trials that cannot be believed mean for an answer."""

from collections import Counter
from collections.abc import Sequence

from benchforge.plugin import CaseSummary, Ranking, readable

_PAIR = 2


def used_doubts(cases: Sequence[CaseSummary]) -> tuple[int, int]:
    """Return the numbers of doubted trials behind the levels: disturbed ones, and the others."""
    used = [one for case in cases for one in case.used_doubts]
    disturbed = sum(one.disturbed for one in used)
    return disturbed, len(used) - disturbed


def rests_on(cases: Sequence[CaseSummary], ranking: Ranking | None) -> list[str]:
    """Return on which blocks the ratios of servers rest, where noise met some of them.

    A disturbed trial counts next to one of the same block that was disturbed, too.
    """
    if ranking is None or not sum(used_doubts(cases)):
        return []
    counts = sorted({pair.ratio.n for pair in ranking.pairs})
    blocks = max(case.trials for case in cases)
    if not counts:
        return []
    of = readable.counted(blocks, "block")
    number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    ratio = "ratio rests" if len(ranking.pairs) == 1 else "ratios rest"
    text = f"The {ratio} on {number} of {of}"
    if alike := _disturbed_alike(cases):
        pair = len(cases) == _PAIR
        some, who = (alike, "both servers") if pair else ("some", "the servers")
        text += f"; in {some} of these, noise met {who} alike, and cancels out"
    return [f"{text}. The other blocks do not count." if counts[0] < blocks else f"{text}."]


def of_level(cases: Sequence[CaseSummary]) -> list[str]:
    """Return what doubted trials mean for a server that is compared with none."""
    disturbed, others = used_doubts(cases)
    of = readable.counted(sum(case.trials for case in cases), "trial")
    if others:
        return [f"{others + disturbed} of {of} cannot be believed: the level may be another."]
    if disturbed:
        return [f"Noise met {disturbed} of {of}: a quiet machine may show more."]
    return []


def _disturbed_alike(cases: Sequence[CaseSummary]) -> int:
    """Return the number of blocks in which at least two servers were disturbed."""
    blocks = Counter(
        block
        for case in cases
        for block in {one.block for one in case.doubted if one.used and one.disturbed}
    )
    return sum(number >= _PAIR for number in blocks.values())
