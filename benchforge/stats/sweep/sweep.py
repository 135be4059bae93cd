"""What a server serves at rising concurrency: the most, and where it saturates."""

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from benchforge.model.summary.capacity import Sweep
from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.interval import LEAST, check, mean, typical

_METHOD: Final = "t of logs, highest of several"
_SHARE = 0.95
_RESAMPLES = 1000


def sweep(values: Mapping[int, Sequence[float]], seed: int = 0, level: float = 0.95) -> Sweep:
    """Return what the throughputs of each level of concurrency say, one of each block.

    All numbers are of this session. `seed` is of the resampled blocks. Raises ValueError for
    levels below 1, different numbers of blocks, values that are not finite and a level outside
    0..1.
    """
    all_values = [value for of in values.values() for value in of]
    check(all_values, level)
    if any(concurrency < 1 for concurrency in values) or len({*map(len, values.values())}) > 1:
        raise ValueError("levels are 1 or more, and each has a value of every block")
    best, at = _highest(values, level)
    if at is None:
        return Sweep(
            highest=best,
            best_level=None,
            saturated=None,
            saturated_range=None,
            knee=None,
        )
    logs = {concurrency: [*map(math.log, values[concurrency])] for concurrency in sorted(values)}
    means = {concurrency: mean(of) for concurrency, of in logs.items()}
    return Sweep(
        highest=best,
        best_level=at,
        saturated=_saturated(means),
        saturated_range=_resampled(logs, Random(seed)),  # noqa: S311 - resampling is no secret
        knee=math.exp(means[at] - means[1]) if 1 in means else None,
    )


def _highest(values: Mapping[int, Sequence[float]], level: float) -> tuple[Estimate, int | None]:
    """Return the highest typical value and its level.

    The best of several is picked by its luck as well. Each level's lower end is therefore one that
    all hold together (Bonferroni), and the highest of them is below the truth; the best level's
    own upper end is not above the highest upper end.
    """
    own = {concurrency: typical(of, level) for concurrency, of in values.items()}
    n = len(next(iter(values.values()), ()))
    why = next((one.why for one in own.values() if one.value is None), "")
    if why or not own:
        why = why or "no level was measured"
        return Estimate(method=_METHOD, level=level, n=n, why=why), None
    at = max(own, key=lambda concurrency: own[concurrency].value or 0)
    careful = 1 - (1 - level) / len(own)
    lows = [low for of in values.values() if (low := typical(of, careful).low) is not None]
    highs = [one.high for one in own.values() if one.high is not None]
    if len(lows) < len(own):
        why = next(one.why for one in own.values() if one.why)
        return Estimate(method=_METHOD, level=level, n=n, value=own[at].value, why=why), at
    return Estimate(
        method=_METHOD,
        level=level,
        n=n,
        value=own[at].value,
        low=max(lows),
        high=max(highs),
        df=n - 1,
    ), at


def _saturated(means: Mapping[int, float]) -> int:
    """Return the smallest level with 95 % of the highest throughput."""
    enough = max(means.values()) + math.log(_SHARE)
    return min(concurrency for concurrency, of in means.items() if of >= enough)


def _resampled(logs: Mapping[int, Sequence[float]], draw: Random) -> tuple[int, int] | None:
    """Return where the level of saturation lies in 95 % of resampled blocks, whole blocks each."""
    n = len(next(iter(logs.values())))
    if n < LEAST:
        return None
    saturations = []
    for _ in range(_RESAMPLES):
        blocks = draw.choices(range(n), k=n)
        saturations.append(
            _saturated({c: sum(of[b] for b in blocks) / n for c, of in logs.items()})
        )
    saturations.sort()
    cut = round(_RESAMPLES * (1 - _SHARE) / 2)
    return saturations[cut], saturations[-1 - cut]
