"""Which part of a result a reader may quote: comparisons, levels, times, some or none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from benchforge.plugin import Summary, readable
from benchforge_reporters.document.answers import ComparisonAnswer
from benchforge_reporters.document.causes import CauseTexts

_MOST_NAMED = 3
_Answers = Sequence[ComparisonAnswer]


@dataclass(frozen=True)
class Quotable:
    """The answer to the question of what may be quoted."""

    state: Literal["good", "limits", "bad"]
    sentence: str


def quotable(causes: CauseTexts, answers: _Answers, summary: Summary) -> Quotable:
    """Return which part of a result can be quoted, as the verdicts on its comparisons say."""
    if summary.smoke:
        return Quotable("bad", "No: this was a smoke run.")
    verdicts = [answer.verdict for answer in answers]
    pairs = zip(answers, summary.comparisons, strict=True)
    compared = [answer for answer, of in pairs if len(of.cases) > 1]
    whole = all(one.rates and one.times for one in verdicts)
    unseen = _unseen(causes)
    if whole and all(one.verdict.state == "decided" for one in compared):
        limits = sum(text.kind == "limits" for text in causes.all)
        return Quotable("limits" if unseen else "good", f"{_whole(limits)}{unseen}")
    texts = []
    if compared:
        noun = "Comparison" if len(compared) == 1 else "Comparisons"
        texts.append(f"{noun}: {_of_comparisons(compared)}.")
    rates = _which(answers, lambda answer: answer.verdict.rates, summary)
    times = _which(answers, lambda answer: answer.verdict.times, summary)
    if rates == times:
        texts.append(f"Requests/s and times: {rates}.")
    else:
        texts += [f"Requests/s: {rates}.", f"Times: {times}."]
    nothing = not any(one.ratio or one.rates for one in verdicts)
    return Quotable("bad" if nothing else "limits", f"{' '.join(texts)}{'' if nothing else unseen}")


def _unseen(causes: CauseTexts) -> str:
    """Return of which cases nobody saw whether the load's answers were right; else empty."""
    findings = (finding.check for text in causes.all for finding in text.cause.findings)
    names = [check.component for check in findings if check.may_hide_wrong_answers]
    if not names:
        return ""
    named = [*dict.fromkeys(names)]
    text = readable.conjoined(named)
    if len(named) > _MOST_NAMED:
        text = readable.counted(len(named), "server")
    return f" Whether {text} answered the load rightly is not known."


def reason(causes: CauseTexts, summary: Summary) -> str:
    """Return how many trials can be believed, and how many causes of doubt there are."""
    cases = summary.cases
    trials, planned = sum(case.trials for case in cases), sum(case.planned for case in cases)
    believed = sum(case.trials if case.believed is None else case.believed for case in cases)
    planned_trials = f"{readable.exact(planned)} planned trials"
    counts = f"{readable.exact(trials)} of {planned_trials} have a measurement"
    if believed < trials:
        counts += f", and {readable.exact(believed)} of them can be believed"
    if not causes.findings:
        return f"{counts}. No check found anything."
    has = f"The checks found {readable.counted(len(causes.all), 'cause')} of doubt"
    limited = any(text.kind in {"invalid", "limits"} for text in causes.all)
    harmless = not (limited or causes.unanswered)
    return f"{counts}. {has}{'; none of them limits the answer' if harmless else ''}."


def _whole(limits: int) -> str:
    if not limits:
        return "Yes."
    return f"Yes, with the {'reservation' if limits == 1 else f'{limits} reservations'} below."


def _of_comparisons(compared: _Answers) -> str:
    states = {one.verdict.state for one in compared}
    if len(states) == 1 and states <= {"broken", "not comparable"}:
        return f"no, {states.pop()}"
    if states == {"undecided"}:
        pairs = [pair for one in compared for pair in one.verdict.pairs]
        if not pairs:
            return "no, undecided"
        named = _pairs(pairs) if len(compared) == 1 else readable.counted(len(pairs), "pair")
        return f"only of {named}; the others are undecided"
    return _named([one for one in compared if one.verdict.ratio], compared)


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


def _which(answers: _Answers, may: Callable[[ComparisonAnswer], bool], summary: Summary) -> str:
    text = _named([one for one in answers if may(one)], answers)
    if text == "yes" and any(one.state == "undecided" for one in answers):
        return "yes, each with its interval"
    if text == "no" and any(case.in_turns for case in summary.cases):
        return "no, measured in turns"
    return text


def _named(good: _Answers, answers: _Answers) -> str:
    if len(good) == len(answers):
        return "yes"
    if not good:
        return "no"
    if len(good) > _MOST_NAMED:
        return f"{len(good)} of {len(answers)}"
    return f"only of {readable.conjoined(one.label for one in good)}"
