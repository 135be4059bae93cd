"""The causes of findings in words, and which part of a result a reader may quote."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from benchforge.plugin import Cause, FoldedFinding, Summary, Trial, readable
from benchforge.plugin.drawing import Quoted, quote
from benchforge_reporters.document.answers import ComparisonAnswer, answers
from benchforge_reporters.document.explanations import BRIEFS, EFFECTS, remedy
from benchforge_reporters.terminal.paint import Meaning
from benchforge_reporters.text.words import with_placebos

MOST: Final = 5
BRIEF: Final = 72  # characters
_PERCENT: Final = 0.01
_NAMED = 3
_TICK_S = 0.01  # in which the kernel counts CPU time
_CLASSES: Final = ("invalid", "limits", "setup")
CauseClass = Literal["invalid", "limits", "setup", "dealt with", "expert"]
SIGNS: Final[dict[CauseClass, tuple[str, Meaning, str]]] = {
    "invalid": ("✕", "bad", "makes numbers invalid"),
    "limits": ("!", "limits", "limits what may be said"),
    "setup": ("i", "do", "concerns the set-up"),
    "dealt with": ("✓", "aside", "dealt with"),
    "expert": ("·", "aside", "for experts"),
}
"Each class: its sign, its colour on a terminal, and its words."


@dataclass(frozen=True)
class CauseText:
    """A cause, in words."""

    cause: Cause
    kind: CauseClass
    brief: str
    "The cause in at most BRIEF characters."
    effect: str
    remedy: str
    "A command, or advice; empty where there is none."

    @property
    def id(self) -> str:
        """The id of the check at its root."""
        return self.cause.id

    @property
    def outcomes(self) -> list[list[FoldedFinding]]:
        """The findings of the same outcome of a check together."""
        outcomes = groupby(self.cause.findings, lambda item: (item.check.id, item.check.status))
        return [list(alike) for _, alike in outcomes]


class CauseTexts:
    """All causes of a result in words, those that matter most first.

    `answered` are the answers of the summary, if the caller has them; else they are formed.
    """

    def __init__(
        self,
        summary: Summary,
        trials: Sequence[Trial],
        answered: Sequence[ComparisonAnswer] | None = None,
    ) -> None:
        texts = [_text(cause, summary, trials) for cause in summary.causes]
        matter = [text for kind in _CLASSES for text in texts if text.kind == kind]
        # What makes a comparison unlike is worse for an answer than noise, which meets all alike.
        matter.sort(key=lambda text: not _unlike(text))
        invalid = [text for text in matter if text.kind == "invalid"]
        room = [text for text in matter if text not in invalid][: max(0, MOST - len(invalid))]
        self.shown = [text for text in matter if text in invalid or text in room]
        "The first ones: at most MOST, unless more of them make numbers invalid."
        others = [text for text in (*matter, *texts) if text not in self.shown]
        self.others = [*dict.fromkeys(others)]
        answered = answers(summary, trials) if answered is None else answered
        verdicts = [answer.verdict for answer in answered]
        decided = any(verdict.state == "decided" or verdict.pairs for verdict in verdicts)
        self.unanswered = bool(verdicts) and not decided
        "True if no comparison has an answer."

    @property
    def all(self) -> tuple[CauseText, ...]:
        """All of them, those that matter most first."""
        return (*self.shown, *self.others)

    @property
    def of_others(self) -> str:
        """Words on the others: that they do not limit the answer, if there is one; else empty."""
        harmless = all(cause.kind in {"expert", "dealt with"} for cause in self.others)
        if self.unanswered or not harmless:
            return ""
        return " does not limit the answer" if len(self.others) == 1 else " do not limit the answer"


def _unlike(text: CauseText) -> bool:
    """Return whether a cause says that servers of a comparison did different work."""
    checks = [finding.check for finding in text.cause.findings]
    of_work = any(check.id == text.id and check.of_work for check in checks)
    return of_work and text.kind in {"invalid", "limits"}


def _text(cause: Cause, summary: Summary, trials: Sequence[Trial]) -> CauseText:
    roots = _roots(cause)
    if cause.state == "dealt with":
        effect = "benchforge set these trials aside: no number rests on them."
        return CauseText(cause, "dealt with", _dealt_with(cause, roots, trials), effect, "")
    # Of searches, the interval of the rate has the scatter of all trials.
    kind: CauseClass = "expert" if _of_searches(roots, summary) else cause.audience
    unknown, message = cause.state == "unknown", roots[0].check.message
    to_do = "" if unknown else remedy(cause.id, roots, summary, trials)
    if unknown or cause.id not in BRIEFS:
        finding = f"{'unknown: ' * unknown}{message.partition(': ')[0]}"
        return CauseText(cause, kind, _cut(finding), message, to_do)
    few = [_words(cause, roots, summary, trials, most) for most in (_NAMED, 1, 0)]
    briefs = [BRIEFS[cause.id].format_map(words) for words in few]
    brief = next((text for text in briefs if len(text) <= BRIEF), _cut(briefs[-1]))
    return CauseText(cause, kind, brief, EFFECTS[cause.id].format_map(few[0]), to_do)


def _of_searches(roots: Sequence[FoldedFinding], summary: Summary) -> bool:
    """Return whether findings follow from a search for a rate, so that nothing is to be done.

    A search overloads servers on purpose, and its interval has the scatter of short trials. Noise
    and a late load tool only make times longer: a trial that passed all the same counts.
    """
    searches = [(case.case.scenario, case.capacity) for case in summary.cases if case.capacity]
    # Of a search without an answer, the findings are the reason.
    unanswered = {scenario for scenario, capacity in searches if not capacity.answered}
    scenarios = {scenario for scenario, _ in searches} - unanswered
    attempts = [attempt for _, capacity in searches for attempt in capacity.attempts]
    passed = {attempt.trial for attempt in attempts if attempt.passed}
    return all(
        cause.scenario in scenarios
        and (
            cause.check.of_lateness
            or cause.check.of_noise
            or (cause.check.topic == "samples" and cause.check.status == "warn")
            or (cause.trials and passed.isdisjoint(cause.trials))
        )
        for cause in roots
    )


def _roots(cause: Cause) -> tuple[FoldedFinding, ...]:
    roots = [finding for finding in cause.findings if finding.check.id == cause.id]
    failed = [root for root in roots or cause.findings if root.check.status == "fail"]
    return tuple(failed or roots or cause.findings)


def _cut(text: str) -> str:
    return text if len(text) <= BRIEF else f"{text[: BRIEF - 3].rstrip()}..."


def _dealt_with(cause: Cause, roots: Sequence[FoldedFinding], trials: Sequence[Trial]) -> str:
    counted = readable.counted(len(cause.trials), "trial")
    named = _programs(cause, trials)
    name = named or f" by {roots[0].check.id} {roots[0].check.name}"
    long = f"benchforge repeated {counted} disturbed{name}"
    return long if len(long) <= BRIEF else f"benchforge repeated {counted}"


def _programs(cause: Cause, trials: Sequence[Trial]) -> str:
    numbers, used = set(cause.trials), Counter[str]()
    observations = (trial.observation for trial in trials if trial.number in numbers)
    for machine in (each.machine for each in observations if each is not None):
        for process in machine.foreign if machine is not None else ():
            used[process.program] += round(process.cpu_s / _TICK_S)
    names = [name for name, _ in used.most_common(2)]
    return f" ({', '.join(names)})" if names else ""


def _words(
    cause: Cause,
    roots: Sequence[FoldedFinding],
    summary: Summary,
    trials: Sequence[Trial],
    most: int,
) -> dict[str, str]:
    """Return the names and numbers of a cause over all its trials, at most so many names each."""
    scenarios = {root.scenario for root in roots}
    of_check = (finding for finding in cause.findings if finding.check.id == cause.id)
    within = [case.case.server for case in summary.cases if case.case.scenario in scenarios]
    everywhere = [case.case.server for case in summary.cases] if scenarios == {""} else within
    # Of a comparison alone, all servers of its scenario are concerned.
    servers = [each.server for each in (*roots, *of_check) if each.server] or everywhere
    others = [server for server in within if server not in servers]
    numbers = {number for root in roots for number in root.trials}
    # Trials that were set aside have a cause of their own.
    count = sum(case.trials for case in with_placebos(summary))
    counted = readable.counted(max(count, len(numbers)), "trial")
    # A value of 0 is another version or compression, which has no size.
    size = any(end for root in roots for end in root.values or ())
    by_others = most and any(root.check.topic == "others" for root in roots)
    return {
        "servers": _names(servers, "server", most),
        "others": f", {_names(others, 'other', most)} kept them" if others else " each time",
        "scenarios": _names([root.scenario for root in roots], "scenario", most),
        "parts": _names([root.check.component for root in roots], "part", most),
        "trials": f"{len(numbers)} of {counted}",
        "range": _range(roots),
        "size": f" in size by {_range(roots)}" if size else "",
        "programs": _programs(cause, trials) if by_others else "",
        "cpus": str(summary.facts.get("cpus_usable", "?")),
    }


def _range(roots: Sequence[FoldedFinding]) -> str:
    """Return the lowest and the highest value of the check at the root, over all trials."""
    ends = [end for root in roots for end in root.values or ()]
    if not ends:
        return "an unknown share"
    threshold = roots[0].check.threshold  # such as `warn at 0.8, fail at 0.95 of a CPU`
    bound = (threshold.rpartition(" at ")[2] or threshold).rpartition("below ")[2]
    share = bound.partition(" ")[2].startswith(("of ", "more "))
    texts = [_figure(100.0 * end if share else end) for end in (min(ends), max(ends))]
    return f"{' to '.join(dict.fromkeys(texts))}{' %' if share else ''}"


def _figure(value: float) -> str:
    return readable.figure(value, 2) if value < 100 else readable.figure(round(value))  # noqa: PLR2004


def _names(names: Sequence[str], noun: str, most: int) -> str:
    distinct = [name for name in dict.fromkeys(names) if name]
    if not distinct:
        return f"no {noun}"
    if len(distinct) <= most:
        return readable.conjoined(distinct)
    return readable.counted(len(distinct), noun)


@dataclass(frozen=True)
class Caveat:
    """A cause that makes numbers invalid or limits what may be said, with its size."""

    text: CauseText
    size: float | None
    "Share by which it may move a ratio, at most; None if that is unknown."
    of_times: bool
    "True if it concerns response times only."

    @property
    def sentence(self) -> str:
        """The caveat with its size, and the id of its check in brackets."""
        brief = f"{self.text.brief} ({self.text.id})"
        if self.size is not None:
            share = readable.figure(100 * self.size, 2 if self.size >= _PERCENT else 1)
            return f"could move the ratio by up to {share} %: {brief}"
        return f"{'of response times' if self.of_times else 'size unknown'}: {brief}"


def caveats(causes: CauseTexts, summary: Summary) -> list[Caveat]:
    """Return what a reader must know beside the answer: of unknown size first, then the largest.

    All that makes a comparison broken or not comparable, or limits it, is among them.
    """
    sizes: dict[str, float] = {}
    for comparison in summary.comparisons:
        for id_, size in (comparison.verdict.sizes if comparison.verdict else {}).items():
            sizes[id_] = max(size, sizes.get(id_, 0.0))
    made = [
        Caveat(text, sizes.get(text.id), all(item.check.of_times for item in _roots(text.cause)))
        for text in causes.all
        if text.kind in {"invalid", "limits"}
    ]
    made.sort(key=lambda caveat: -(caveat.size or 0.0))
    made.sort(key=lambda each: (not _unlike(each.text), each.of_times, each.size is not None))
    return made


@dataclass(frozen=True)
class Quotable:
    """The answer to the question of what may be quoted."""

    state: Literal["good", "limits", "bad"]
    sentence: str


def quotable(causes: CauseTexts, answers: Sequence[Quoted], summary: Summary) -> Quotable:
    """Return which part of a result can be quoted, as the verdicts on its comparisons say."""
    sentence = quote(answers, summary)
    if sentence.startswith("No"):
        return Quotable("bad", sentence)
    unseen = _unseen(causes)
    limited = any(text.kind in {"invalid", "limits"} for text in causes.all)
    return Quotable("limits" if limited or unseen else "good", f"{sentence}{unseen}")


def _unseen(causes: CauseTexts) -> str:
    """Return the servers whose answers under load may hide wrong ones; else empty."""
    findings = (finding.check for text in causes.all for finding in text.cause.findings)
    names = [check.component for check in findings if check.may_hide_wrong_answers]
    if not names:
        return ""
    return f" Whether {_names(names, 'server', _NAMED)} answered the load rightly is not known."
