"""Two sittings of one table: what their own difference says about neighbouring ranks."""

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

from benchforge.cli.results.audit.facts import value
from benchforge.cli.results.audit.finding import Finding
from benchforge.parts.reader import Row
from benchforge.text import readable

_FEWEST = 10
"Rows that both sittings have, for their noise to be known."
_NORMAL, _TO_SD = 1.96, 1.4826


def ranks(name: str, older: Sequence[Row], newer: Sequence[Row]) -> Finding | None:
    """AN3: neighbours in rank differ by more than the same row between two sittings.

    Return None where too few rows are in both, or where all ranks are resolved.
    """
    before = {row.name: value(row, "rate") for row in older}
    both = [row for row in newer if value(row, "rate") > 0 and before.get(row.name, 0) > 0]
    if len(both) < _FEWEST:
        return None
    changes = [math.log(value(row, "rate") / before[row.name]) for row in both]
    middle = statistics.median(changes)
    spread = _TO_SD * statistics.median(abs(change - middle) for change in changes)
    ranked = sorted((value(row, "rate") for row in newer if value(row, "rate") > 0), reverse=True)
    pairs = list(pairwise(ranked))
    # The change between two sittings has the noise of both, and so has that of two rows.
    inside = sum(math.log(more / less) < _NORMAL * spread for more, less in pairs)
    if not inside:
        return None
    return Finding(
        "AN3",
        "not resolved",
        "neighbours in rank differ by less than one row between two sittings",
        f"{inside} of {len(pairs)} neighbouring pairs of {name}: the rate of {len(both)} rows "
        "changed "
        f"by {readable.percent(math.expm1(spread))} (robust standard deviation)",
        "nothing that is measured changed between the sittings",
        "versions, machine or load changed between the two",
        row=name,
    )
