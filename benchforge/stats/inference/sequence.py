"""An interval that holds at all looks together: who looks after each block may stop at any."""

import math

from benchforge.model.summary.verdict import Estimate
from benchforge.stats.inference.interval import LEAST

ERROR = 0.01
"How often a run ends early on something false, over all of its questions."


def confidence_sequence(estimate: Estimate, error: float) -> tuple[float, float] | None:
    """Return the ends of a ratio's interval after n blocks; None where they are infinitely far.

    At all n together the interval misses the truth with this probability. Source: Wang and Ramdas
    2023 (arXiv 2310.03722), a normal mixture for an unknown variance, with g = 1.
    """
    n, sd = estimate.n, estimate.sd
    if estimate.value is None or sd is None or n < LEAST:
        return None
    share = 1 / (1 + n)
    growth = (1 / (error * math.sqrt(share))) ** (2 / n)
    if share * growth >= 1:
        return None
    half = sd * math.sqrt((n - 1) * (growth - 1) / (1 - share * growth) / n)
    return estimate.value * math.exp(-half), estimate.value * math.exp(half)
