"""Which part of a result a reader may quote: comparisons, levels, both or neither."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchforge.plugin import CaseSummary, Summary, readable
from benchforge_reporters.document.answers import ComparisonAnswer, cases_of
from benchforge_reporters.document.causes import CauseText, CauseTexts
from benchforge_reporters.document.doubts import used_doubts

_MOST_NAMED = 3


@dataclass(frozen=True)
class Quotable:
    """The answer to the question of what may be quoted."""

    state: Literal["good", "limits", "bad"]
    sentence: str


def quotable(causes: CauseTexts, answers: Sequence[ComparisonAnswer], summary: Summary) -> Quotable:
    """Return which part of a result can be quoted.

    A comparison can be quoted if it has an answer and its servers did the same work. Noise that met
    both sides alike does not change that. It changes levels, such as requests per second.
    """
    if summary.smoke:
        return Quotable("bad", "No: this was a smoke run.")
    invalid = [text for text in causes.all if text.kind == "invalid"]
    parts = [
        _part(answer, cases_of(comparison, summary), invalid)
        for answer, comparison in zip(answers, summary.comparisons, strict=True)
    ]
    compared = [part for part in parts if part.compares]
    whole = not invalid and all(part.ratio and part.level for part in parts)
    if whole and not any(part.undecided for part in parts):
        return Quotable("good", _whole(sum(text.kind == "limits" for text in causes.all)))
    texts = []
    if compared:
        of = "Comparison" if len(compared) == 1 else "Comparisons"
        texts.append(f"{of}: {_of_comparisons(compared)}.")
    levels = _which([part for part in parts if part.level], parts)
    if levels == "yes" and any(part.undecided for part in parts):
        levels = "yes, each with its interval"
    if levels == "no" and any(part.in_turns for part in parts):
        levels = "no, measured in turns"
    texts.append(f"Requests/s and times: {levels}.")
    nothing = not any((part.ratio and part.compares) or part.level for part in parts)
    return Quotable("bad" if nothing else "limits", " ".join(texts))


@dataclass(frozen=True)
class _Part:
    """What of an answer can be quoted."""

    label: str
    compares: bool
    "True if it compares servers."
    undecided: bool
    decided: tuple[tuple[str, str], ...]
    "Pairs of an undecided comparison that differ."
    unlike: bool
    "True if its servers did not do the same work."
    ratio: bool
    level: bool
    in_turns: bool


def _part(
    answer: ComparisonAnswer, cases: Sequence[CaseSummary], invalid: Sequence[CauseText]
) -> _Part:
    in_turns = any(case.in_turns for case in cases)
    theirs = [text for text in invalid if _concerns(text, answer.scenario)]
    answered = answer.state not in {"not comparable", "unknown"}
    return _Part(
        label=answer.label,
        compares=len(cases) > 1,
        undecided=answer.state == "undecided",
        decided=answer.decided,
        unlike=answer.state == "not comparable",
        ratio=answered and not any(map(_of_ratios, theirs)),
        level=not (sum(used_doubts(cases)) or theirs or in_turns),
        in_turns=in_turns,
    )


def _concerns(text: CauseText, scenario: str) -> bool:
    return any(one.scenario in {"", scenario} for one in text.roots)


def _of_ratios(text: CauseText) -> bool:
    """Whether a cause makes ratios invalid. They leave out trials that the apparatus spoils."""
    return any(
        not one.check.of_noise
        and one.check.invalidates == "all"
        and (one.check.scope != "trial" or one.check.subject == "behaviour")
        for one in text.roots
    )


def _whole(limits: int) -> str:
    if not limits:
        return "Yes."
    return f"Yes, with the {'reservation' if limits == 1 else f'{limits} reservations'} below."


def _of_comparisons(compared: Sequence[_Part]) -> str:
    if all(part.unlike for part in compared):
        return "no, not alike"
    if all(part.ratio and part.undecided for part in compared):
        pairs = [pair for part in compared for pair in part.decided]
        if not pairs:
            return "no, undecided"
        named = _pairs(pairs) if len(compared) == 1 else readable.counted(len(pairs), "pair")
        return f"only of {named}; the others are undecided"
    return _which([part for part in compared if part.ratio], compared)


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Return pairs in words, those with the same second server together; of many, their number."""
    by_second: dict[str, list[str]] = {}
    for first, second in pairs:
        by_second.setdefault(second, []).append(first)
    if len(by_second) > _MOST_NAMED:
        return f"{len(pairs)} pairs"
    return readable.conjoined(
        f"{readable.conjoined(firsts)} with {second}" for second, firsts in by_second.items()
    )


def _which(good: Sequence[_Part], parts: Sequence[_Part]) -> str:
    if len(good) == len(parts):
        return "yes"
    if not good:
        return "no"
    if len(good) > _MOST_NAMED:
        return f"{len(good)} of {len(parts)}"
    return f"only of {readable.conjoined(part.label for part in good)}"
