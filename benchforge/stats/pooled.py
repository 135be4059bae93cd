"""Ratios of three or more servers in few blocks, with the noise of all of them taken together.

No verdict rests on it: simulated with Holm's rule, one server with three times the noise of the
others makes 5 % of false differences up to 8 %, since few blocks do not show that it has.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from benchforge.model.verdict import Estimate
from benchforge.stats.interval import (
    LEAST,
    by_t,
    check,
    deviation,
    estimate,
    mean,
    why_no_logs,
)

_METHOD: Final = "pooled t of log-ratios"
_SERVERS = 3
_UNEQUAL = 3.0  # times: above it, pooling finds differences of noisy servers that are not there


def pooled_ratios(
    table: Sequence[Sequence[float]], level: float = 0.95
) -> dict[tuple[int, int], Estimate]:
    """Return the ratio of each pair i < j of servers, table[i] / table[j], by the blocks' t.

    A row holds a server's value of each block. With k servers and n blocks the noise has
    (k - 1)(n - 1) degrees of freedom, so that the intervals are much narrower than `ratio`'s below
    8 blocks. It holds where servers are equally noisy: each estimate has a reason in place of an
    interval when their residual deviations differ more than threefold. Then use `ratio`.

    Raises ValueError for rows of different lengths, values that are not finite and a level outside
    0..1.
    """
    values = [value for row in table for value in row]
    check(values, level)
    pairs = list(combinations(range(len(table)), 2))
    if not pairs:
        return {}
    n = len(table[0])
    if any(len(row) != n for row in table):
        raise ValueError("a server lacks the value of a block")
    if nothing := why_no_logs(values, _METHOD, level):
        return {(i, j): nothing.model_copy(update={"n": n}) for i, j in pairs}
    if n == 0:
        return {pair: Estimate(method=_METHOD, level=level, n=0, why="no value") for pair in pairs}
    logs = [[math.log(value) for value in row] for row in table]
    middles = [mean(row) for row in logs]
    rest = residuals(logs)
    if why := _refused(rest):
        return {
            (i, j): estimate(middles[i] - middles[j], _METHOD, level, n, why=why) for i, j in pairs
        }
    df = (len(table) - 1) * (n - 1)
    noise = math.sqrt(math.fsum(e * e for row in rest for e in row) / df)
    sd = math.sqrt(2) * noise
    return {
        (i, j): by_t(
            middles[i] - middles[j], sd / math.sqrt(n), df, method=_METHOD, level=level, n=n, sd=sd
        )
        for i, j in pairs
    }


def residuals(logs: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return what is left of each value without its server's and its block's mean."""
    blocks = [mean(block) for block in zip(*logs, strict=True)]
    whole = mean(blocks)
    return [
        [value - mean(row) - block + whole for value, block in zip(row, blocks, strict=True)]
        for row in logs
    ]


def _refused(rest: Sequence[Sequence[float]]) -> str:
    """Why the servers' noise cannot be taken together; empty when it can."""
    n = len(rest[0])
    if len(rest) < _SERVERS:
        return f"noise is taken together of {_SERVERS} servers or more, not {len(rest)}"
    if n < LEAST:
        return f"{n} {'block has' if n == 1 else 'blocks have'} no interval: it takes {LEAST}"
    spreads = [deviation(row) for row in rest]
    if min(spreads) == 0:
        return "equal apart from the blocks' means: how they spread is not known"
    if (times := max(spreads) / min(spreads)) > _UNEQUAL:
        return f"the noisiest server has {times:.1f} times the noise of the quietest"
    return ""
