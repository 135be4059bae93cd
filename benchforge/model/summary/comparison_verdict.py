"""What a comparison shows, and which of its numbers may be quoted."""

from typing import Final, Literal

from benchforge.model.values.frozen import Frozen

CLOSE: Final = 1.1
"Servers whose ratio is surely below it are equal within that; of others nothing is decided."
ComparisonState = Literal["decided", "undecided", "not comparable", "broken"]


class ComparisonVerdict(Frozen):
    """Verdict on a comparison. Screens, pages, exit codes and files all read it."""

    state: ComparisonState
    "Decided: the servers differ, or are equal within a bound. Broken: a server answered wrongly."
    reasons: tuple[str, ...] = ()
    "Reasons why the comparison is not decided, a phrase each; the first is the weightiest."
    pairs: tuple[tuple[str, str], ...] = ()
    "Pairs of servers that are shown to differ, the better one first; none unless comparable."
    ratio: bool = False
    "True if the ratios of the comparison may be quoted; of an undecided one, those of `pairs`."
    rates: bool = False
    "True if requests per second may be quoted."
    times: bool = False
    "True if response times may be quoted."
