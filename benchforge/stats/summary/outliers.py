"""Values that lie far from their server's others: flagged, and never dropped.

Dropping them finds false differences in 9.5 % of comparisons, and hides the stalls of a server.
"""

import math
import statistics
from collections.abc import Mapping, Sequence

from benchforge.model.summary.verdict import Outlier, Outliers
from benchforge.stats.inference.interval import check, mean
from benchforge.text.readable import counted, exact

_LEAST = 5  # values
# The modified z beyond which one server in 20 (mild) or in 100 (severe) has a value although all
# its values are normal, by the number of values from which it holds. The usual 3.5 is for many
# values: of five, the median deviation is so often small by chance that one server in five is
# flagged.
_CUTOFFS = {
    5: (8.0, 19.0),
    6: (5.8, 10.7),
    8: (5.1, 8.4),
    10: (4.6, 7.0),
    12: (4.4, 6.3),
    15: (4.3, 6.1),
    20: (4.0, 5.3),
    30: (3.9, 4.8),
}
_MATERIAL = 0.01  # of the value: nobody chooses a server by less
_LARGEST = 700.0  # whose exponential is a number still
_EQUAL = 1e-12  # what is left of equal values after their logarithms are subtracted
_TIE = 1e-9
_NORMAL = 0.6745  # MADs that a standard deviation is, for a normal distribution


def outliers(values: Mapping[str, Sequence[float]]) -> dict[str, Outliers]:
    """Return what is flagged of each server, by the modified z of the logarithms (from 1 % off on).

    The mean of each block is removed first, since what meets all servers is nobody's outlier. One
    value far off moves the mean, so that those of the other servers seem off as well: in a block
    only the farthest is flagged. Of two servers alone both are: their ratio does not tell whose
    value it was. Raises ValueError for different lengths and values that are not finite.
    Source: Iglewicz and Hoaglin 1993, with cutoffs from simulation.
    """
    all_values = [value for row in values.values() for value in row]
    check(all_values)
    if any(value <= 0 for value in all_values):
        reason = f"a value is {exact(min(all_values))}: what is not above 0 has no logarithm"
        return {server: Outliers(why=reason) for server in values}
    logs = [[math.log(value) for value in row] for row in values.values()]
    blocks = [mean(block) if len(block) > 1 else 0.0 for block in zip(*logs, strict=True)]
    rest = [[value - block for value, block in zip(row, blocks, strict=True)] for row in logs]
    away = [[value - statistics.median(row) for value in row] for row in rest]
    zs = [_modified(row) for row in away]
    mild, _ = _cutoffs(len(blocks))
    rows = [(row, z) for row, z in zip(away, zs, strict=True) if z]
    far = []
    for index in range(len(blocks)):
        off = [abs(row[index]) for row, z in rows if abs(z[index]) > mild]
        far.append(max(off, default=0.0))
    return {
        server: Outliers(why=_unknown(len(blocks))) if z is None else _flagged(z, row, far)
        for server, z, row in zip(values, zs, away, strict=True)
    }


def _modified(away: Sequence[float]) -> list[float] | None:
    """Return each value's modified z; None where too few or too many equal values have none."""
    if len(away) < _LEAST:
        return None
    mad = statistics.median(map(abs, away))
    return [_NORMAL * each / mad for each in away] if mad > _EQUAL else None


def _cutoffs(n: int) -> tuple[float, float]:
    return _CUTOFFS[max((least for least in _CUTOFFS if least <= n), default=_LEAST)]


def _unknown(n: int) -> str:
    if n < _LEAST:
        return f"among {counted(n, 'value')} no outlier is known: it takes {_LEAST}"
    return "half of the values or more are equal: how they spread is not known"


def _flagged(zs: Sequence[float], away: Sequence[float], far: Sequence[float]) -> Outliers:
    mild, severe = _cutoffs(len(zs))
    return Outliers(
        flagged=tuple(
            Outlier(
                at=index,
                z=z,
                share=math.expm1(min(off, _LARGEST)),
                severity="severe" if abs(z) > severe else "mild",
            )
            for index, (z, off, farthest) in enumerate(zip(zs, away, far, strict=True))
            if abs(z) > mild and abs(off) >= max(farthest * (1 - _TIE), _MATERIAL)
        )
    )
