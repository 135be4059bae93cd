"""Quotable parts of a result, as the verdicts on its comparisons allow."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchforge.model.summary.summary import Comparison, Summary
from benchforge.model.summary.verdict import ComparisonVerdict
from benchforge.report.answer.headline import Headline
from benchforge.text.readable import conjoined, counted

_NAMED = 3


class Quoted(NamedTuple):
    """A comparison with its answer, and with its name in the result."""

    label: str
    comparison: Comparison
    head: Headline

    @property
    def verdict(self) -> ComparisonVerdict:
        """The verdict; of an older result one that allows nothing."""
        return self.comparison.verdict or ComparisonVerdict(state="undecided", reasons=("older",))


def quote(answers: Sequence[Quoted], summary: Summary) -> str:
    """Return what may be quoted: the ratio, the latency, and requests/s where they are measured."""
    if summary.smoke:
        return "No: this was a smoke run."
    compared = [item for item in answers if len(item.comparison.cases) > 1]
    alone = [
        item
        for item in answers
        if not any(case.in_turns for case in summary.cases_of(item.comparison))
    ]
    timed = [item for item in answers if item.comparison.latency is not None]
    sound = (it.verdict.ratio or it.verdict.rates or _bound(it) for it in answers)
    if not any(sound) and not any(map(_timed, timed)):
        return f"No{_crowded(compared)}."
    texts = []
    if compared:
        bound = _bound(compared[0]) if len(compared) == 1 else ""
        which = bound or _which(compared, lambda item: item.verdict.ratio)
        which += ", with its caveat" * (which == "yes" and any(map(_limited, compared)))
        texts.append(f"Ratio: {which}{_crowded(compared)}.")
    if timed:
        texts.append(f"Latency: {_which(timed, _timed)}.")
    if alone:
        ranked = [summary.standing(item.comparison) for item in alone]
        rates = {it.unit for it in ranked if it is not None} <= {"requests/s"}
        quantity = "Requests/s" if rates else "Values"
        texts.append(f"{quantity}: {_which(alone, lambda item: item.verdict.rates)}.")
    return " ".join(texts)


def _bound(item: Quoted) -> str:
    """Return the words in which a ratio may be quoted; empty where there are none, or no need."""
    if item.verdict.crowded:
        return ""
    if item.head.says == "same":
        return f"yes, as “{item.head.bound}”"
    if item.verdict.pairs and item.verdict.state == "undecided":
        pairs = [f"{first} with {second}" for first, second in item.verdict.pairs]
        named = conjoined(pairs) if len(pairs) <= _NAMED else counted(len(pairs), "pair")
        return f"only of {named}"
    return f"only as “they differ by {item.head.bound}”" if item.head.bound else ""


def _limited(item: Quoted) -> bool:
    """Return whether a finding may move the ratio by more than its interval."""
    ratio, sizes = item.head.ratio, item.verdict.sizes
    if ratio is None or ratio.value is None or ratio.high is None:
        return False
    return max(sizes.values(), default=0.0) > ratio.high / ratio.value - 1


def _crowded(answers: Sequence[Quoted]) -> str:
    """Return why a busy machine lets nobody quote ratios; empty where it was not so busy."""
    return next((f": {each.verdict.crowded}" for each in answers if each.verdict.crowded), "")


def _timed(item: Quoted) -> bool:
    latency = item.comparison.latency
    servers = () if latency is None else latency.servers
    bounded = [it.median.high and it.tail.high for it in servers]
    return bool(bounded) and all(bounded) and not item.head.unanswered


def _which(answers: Sequence[Quoted], may: Callable[[Quoted], bool]) -> str:
    good = [item.label for item in answers if may(item)]
    if len(good) in {0, len(answers)}:
        return "yes" if good else "no"
    bad = [item.label for item in answers if not may(item)]
    if len(bad) <= min(_NAMED, len(good)):
        return f"yes, but not of {conjoined(bad)}"
    return f"only of {conjoined(good)}" if len(good) <= _NAMED else f"only of {len(good)}"
