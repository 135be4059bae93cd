"""What searches found: the highest rate of each server."""

from collections.abc import Sequence

from benchforge.plugin import Capacity, CaseSummary, readable, server_names
from benchforge_reporters.text.search import RATES, rate_of


def found_rates(cases: Sequence[CaseSummary], *, apart: bool) -> str:
    """Return the rates that searches found, in a sentence; empty if no case was a search.

    `apart` says that no two intervals have a rate in common.
    """
    named = list(zip(server_names([case.case for case in cases]), cases, strict=True))
    if all(case.capacity is None for case in cases):
        return ""
    ranked = [
        (server, case.capacity)
        for server, case in named
        if case.capacity is not None and case.capacity.answered
    ]
    if len(ranked) < len(cases):
        answered = {server for server, _ in ranked}
        names = [server for server, _ in named if server not in answered]
        return f"No answer: no rate is known of {readable.conjoined(names)}"
    ranked.sort(key=lambda rate: rate[1].ends, reverse=True)
    texts = [f"{server} {rate_in_words(capacity)}" for server, capacity in ranked]
    shared = "" if apart or len(ranked) == 1 else ": the intervals have rates in common"
    return f"Highest rate that keeps all objectives: {readable.conjoined(texts)}{shared}"


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
