"""What searches found: the highest rate of each server, and whether they differ."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from benchforge.plugin import Capacity, CaseSummary, readable, server_names
from benchforge_reporters.text.search import RATES, rate_of


def found_rates(
    cases: Sequence[CaseSummary],
) -> tuple[Literal["differs", "undecided", "unknown"], str] | None:
    """Return whether servers differ by the rates that searches found, and these in a sentence.

    They differ if no two intervals have a rate in common. None if no case was a search.
    """
    named = list(zip(server_names([case.case for case in cases]), cases, strict=True))
    ranked = [
        (server, case.capacity)
        for server, case in named
        if case.capacity is not None and case.capacity.answered
    ]
    if all(case.capacity is None for case in cases):
        return None
    if len(ranked) < len(cases):
        answered = {server for server, _ in ranked}
        names = [server for server, _ in named if server not in answered]
        return "unknown", f"No answer: no rate is known of {readable.conjoined(names)}"
    ranked.sort(key=lambda rate: _top(rate[1]), reverse=True)
    texts = [f"{server} {rate_in_words(capacity)}" for server, capacity in ranked]
    ends = [_ends(capacity) for _, capacity in ranked]
    apart = all(low > high for (low, _), (_, high) in pairwise(ends))
    of = "" if apart or len(ranked) == 1 else ": the intervals have rates in common"
    text = f"Highest rate that keeps all objectives: {readable.conjoined(texts)}{of}"
    return ("differs", text) if apart else ("undecided", text)


def rate_in_words(capacity: Capacity) -> str:
    """Return the rate with its interval, and the rate to plan with.

    They differ, since half of the trials fail at the first.
    """
    text = f"{rate_of(capacity)} requests/s"
    if capacity.rate.value is None or capacity.rate.interval is None:
        return text
    low, high = map(RATES.text, capacity.rate.interval)
    plan = "" if capacity.safe is None else f"; plan with {RATES.text(capacity.safe)}"
    return f"{text} ({low} to {high}, 95 %{plan})"


def _top(capacity: Capacity) -> float:
    return capacity.rate.value if capacity.rate.value is not None else _ends(capacity)[0]


def _ends(capacity: Capacity) -> tuple[float, float]:
    """Return between which rates the highest one is; where only a bound is known, from it on."""
    if capacity.rate.interval is not None:
        return capacity.rate.interval
    tried = [attempt.rate for attempt in capacity.attempts]
    match capacity.phase:
        case "too high":
            return max(tried), float("inf")
        case "too low":
            return 0.0, min(tried)
    return 0.0, float("inf")
