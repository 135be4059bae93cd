"""What of a plan is there: measurements, and whole blocks."""

from collections import Counter
from collections.abc import Sequence

from benchforge.model.result import Header
from benchforge.model.trial import ATTEMPTS, Trial
from benchforge.model.verdict import Enough
from benchforge.stats.groups import Identity, identity
from benchforge.stats.search import where


def missing(header: Header, trials: Sequence[Trial], found: Enough | None) -> int:
    """Return how many measurements are left, at most; `found` is what `precise` returned.

    Raises InvalidFile where trials are at other rates than their search asked for.
    """
    over_at_last = _ended(header, trials)
    there = set(_settled(trials))
    last = max((trial.block for trial in trials), default=0)
    over = found is not None and found.stop and last <= found.blocks
    wanted = (one for one in header.plan if not over or one.block <= last)
    return sum(
        (one.block, identity(one.case)) not in there and identity(one.case) not in over_at_last
        for one in wanted
    )


def _ended(header: Header, trials: Sequence[Trial]) -> set[Identity]:
    """Return the cases whose search for a rate is over: what their plan has left is not needed."""
    ended: set[Identity] = set()
    for case in header.cases:
        if (find := header.finds.get(case.scenario)) is None:
            continue
        now = where(find, case, [trial for trial in trials if trial.case == case])
        if now.rate is None:
            ended.add(identity(case))
    return ended


def done(trials: Sequence[Trial]) -> int:
    """Return how many measurements have all the attempts that they need."""
    return len(_settled(trials))


def whole(header: Header, trials: Sequence[Trial]) -> int:
    """Return how many blocks, from the first, have all that is to be measured in them."""
    there = Counter(block for block, _ in _settled(trials))
    blocks = 0
    while header.cases and there[blocks + 1] == len(header.cases):
        blocks += 1
    return blocks


def needs_no_more(attempts: Sequence[Trial]) -> bool:
    """Whether a case needs no further attempt in a block: only what comes and goes gets one."""
    return bool(attempts) and (not attempts[-1].again or len(attempts) >= ATTEMPTS)


def _settled(trials: Sequence[Trial]) -> list[tuple[int, Identity]]:
    """Return the blocks and cases of which nothing is left to measure."""
    found: dict[tuple[int, Identity], list[Trial]] = {}
    for trial in sorted(trials, key=lambda trial: trial.attempt):
        found.setdefault((trial.block, identity(trial.case)), []).append(trial)
    return [place for place, attempts in found.items() if needs_no_more(attempts)]
