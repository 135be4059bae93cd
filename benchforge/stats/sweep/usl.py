"""The universal scalability law, fitted to throughput by concurrency, and refused where it is none.

Source: Gunther 2007, Guerrilla Capacity Planning, chapter 4.
"""

import math
from collections.abc import Mapping, Sequence

from benchforge.model.summary.capacity import Scaling
from benchforge.text.readable import figure

ACCEPTED = 0.10
"The largest error of ln X that an accepted law has; a hard knee gives 0.16 to 0.30."

_ROUNDING = 1e-9  # of a share: what is flat is so on every Python
_LEVELS = 5  # of concurrency: with three numbers to fit, fewer can hardly speak against the law
_SOFT = 0.05  # where an error begins to count less than by its square
_STEPS = 200
_STILL = 1e-12
# N / X is linear: a + b (N - 1) + c N (N - 1). Neither b nor c is negative: each may be left out.
_SUBSETS = ((0,), (0, 1), (0, 2), (0, 1, 2))


def scaling(throughput: Mapping[int, float]) -> Scaling | str:
    """Return the law through each level's typical throughput, or why there is none.

    Least squares of ln X with errors above 0.05 damped (soft L1), contention and coherency not
    negative. A peak beyond the highest level is not told. Raises ValueError for levels below 1 and
    for throughputs that are not positive numbers.
    """
    if any(level < 1 or not 0 < x < math.inf for level, x in throughput.items()):
        raise ValueError(f"no throughput by concurrency: {dict(throughput)}")
    if len(throughput) < _LEVELS:
        return f"the law takes {_LEVELS} levels of concurrency, not {len(throughput)}"
    levels = sorted(throughput)
    target = [math.log(level) - math.log(throughput[level]) for level in levels]
    basis = [(1.0, level - 1.0, level * (level - 1.0)) for level in levels]
    fits = (_fitted(basis, target, subset) for subset in _SUBSETS)
    best = min((fit for fit in fits if fit), key=lambda fit: _loss(_errors(basis, target, fit)))
    off = max(map(abs, _errors(basis, target, best)))
    if off >= ACCEPTED:
        return f"the law is {figure(100 * math.expm1(off))} % off at one level"
    a, b, c = best
    peak, why = _peak(b / a, c / a, levels[-1])
    return Scaling(rate=1 / a, contention=b / a, coherency=c / a, max_error=off, peak=peak, why=why)


def law_at(law: Scaling, level: int) -> float:
    """Return what a law gives at a level of concurrency."""
    pairs = level * (level - 1)
    return law.rate * level / (1 + law.contention * (level - 1) + law.coherency * pairs)


def _peak(contention: float, coherency: float, highest: int) -> tuple[float | None, str]:
    if contention >= 1 - _ROUNDING:
        return None, "more than one is never faster"
    peak = math.sqrt((1 - contention) / coherency) if coherency > 0 else math.inf
    if peak > highest:
        return None, f"not reached at {highest}"
    return max(1.0, peak), ""


def _fitted(
    basis: Sequence[Sequence[float]], target: Sequence[float], subset: Sequence[int]
) -> tuple[float, ...] | None:
    """Return the coefficients of least loss that are 0 outside the subset; None if one is negative.

    Gauss and Newton with halved steps, from the fit of the relative errors of N / X.
    """
    size = len(basis[0])
    relative = [
        [row[k] / math.exp(y) for k in subset] for row, y in zip(basis, target, strict=True)
    ]
    start = _solved(relative, [1.0] * len(target), [1.0] * len(target))
    if start is None:
        return None
    now = tuple(start[subset.index(k)] if k in subset else 0.0 for k in range(size))
    if not _positive(basis, now):
        now = tuple(math.exp(sum(target) / len(target)) if k == 0 else 0.0 for k in range(size))
    for _ in range(_STEPS):
        errors = _errors(basis, target, now)
        slopes = [[row[k] / _at(row, now) for k in subset] for row in basis]
        weights = [1 / math.hypot(1, error / _SOFT) for error in errors]
        step = _solved(slopes, [-error for error in errors], weights)
        if step is None:
            break
        after = _stepped(basis, target, now, dict(zip(subset, step, strict=True)))
        if after is None:
            break
        now = after
    return now if all(value >= 0 for value in now) else None


def _stepped(
    basis: Sequence[Sequence[float]],
    target: Sequence[float],
    now: tuple[float, ...],
    step: Mapping[int, float],
) -> tuple[float, ...] | None:
    """Return where a part of the step leads to less loss; None where no part does."""
    before = _loss(_errors(basis, target, now))
    part = 1.0
    while part > _STILL:
        after = tuple(value + part * step.get(k, 0) for k, value in enumerate(now))
        if _positive(basis, after) and _loss(_errors(basis, target, after)) < before * (1 - _STILL):
            return after
        part /= 2
    return None


def _at(row: Sequence[float], coefficients: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(row, coefficients, strict=True))


def _positive(basis: Sequence[Sequence[float]], coefficients: Sequence[float]) -> bool:
    return all(_at(row, coefficients) > 0 for row in basis)


def _errors(
    basis: Sequence[Sequence[float]], target: Sequence[float], coefficients: Sequence[float]
) -> list[float]:
    return [math.log(_at(row, coefficients)) - y for row, y in zip(basis, target, strict=True)]


def _loss(errors: Sequence[float]) -> float:
    return sum(math.hypot(1, error / _SOFT) - 1 for error in errors)


def _solved(
    rows: Sequence[Sequence[float]], right: Sequence[float], weights: Sequence[float]
) -> list[float] | None:
    """Return the weighted least squares of rows · x = right; None where they do not determine x.

    By the normal equations of columns that are scaled to one another.
    """
    size = len(rows[0])
    scale = [math.sqrt(sum(row[k] ** 2 for row in rows)) for k in range(size)]
    if min(scale) == 0:
        return None
    normal = [
        [
            sum(w * row[i] * row[j] for row, w in zip(rows, weights, strict=True))
            / (scale[i] * scale[j])
            for j in range(size)
        ]
        + [sum(w * row[i] * y for row, y, w in zip(rows, right, weights, strict=True)) / scale[i]]
        for i in range(size)
    ]
    for k in range(size):
        at = max(range(k, size), key=lambda i: abs(normal[i][k]))
        normal[k], normal[at] = normal[at], normal[k]
        if abs(normal[k][k]) < _STILL:
            return None
        for i in range(size):
            if i != k:
                times = normal[i][k] / normal[k][k]
                normal[i] = [a - times * b for a, b in zip(normal[i], normal[k], strict=True)]
    return [normal[k][size] / normal[k][k] / scale[k] for k in range(size)]
