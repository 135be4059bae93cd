"""Each claim in one line: its sign, both sides, the estimate, and what was published."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice
from typing import Final, Literal

from benchforge.plugin import Summary, Verdict, readable, server_names, titled
from benchforge_reporters.text.claims import ClaimText, texts

ClaimState = Literal["holds", "not comparable", "fails", "inconclusive", "invalid"]
WORDS: Final[dict[ClaimState, str]] = {
    "holds": "hold",
    "not comparable": "not comparable",
    "fails": "do not hold",
    "inconclusive": "undecided",
    "invalid": "invalid",
}
_VERBS: Final[dict[ClaimState, str]] = {
    "holds": "holds",
    "not comparable": "cannot be judged",
    "fails": "does not hold",
    "inconclusive": "is undecided",
    "invalid": "is invalid",
}
SIGNS: Final[dict[ClaimState, str]] = {
    "holds": "✔",
    "not comparable": "!",
    "fails": "✕",
    "inconclusive": "?",
    "invalid": "\N{EN DASH}",
}
_PAIR: Final = 2  # servers: their interval is the same in an answer and in a claim
_NOTE: Final = "Intervals of answers hold for all pairs together: they are wider than a claim's."


@dataclass(frozen=True)
class ClaimLine:
    """A question of a claim, and its answer."""

    state: ClaimState
    name: str
    hypothesis: str
    "Statement that is tested, with the names of its sides."
    estimate: str
    "The estimate with its interval, or the reason why there is none."
    published: str
    "Value that a source gives, and whether the interval excludes it; empty without a source."
    excluded: bool | None
    "True if the interval excludes the published value; None without a value or an interval."
    remark: str
    "Reason against the answer, or what it takes to decide; may be empty."
    text: ClaimText

    @property
    def verb(self) -> str:
        """What became of the hypothesis, as the verb of a sentence."""
        return _VERBS[self.state]


def claim_lines(summary: Summary) -> list[ClaimLine]:
    """Return a line for each question, in the order of the suite."""
    roots = {cause.id for cause in summary.causes}
    wholes = {
        case.case.title: "all kinds" if case.kinds else "the whole load"
        for case in summary.cases
        if case.kinds or case.stages
    }
    lines = [
        replace(line, remark="; ".join(filter(None, _remarks(line, summary))))
        for line in (_line(one, roots, wholes) for one in texts(summary))
    ]
    titles = [titled(line.text.claim.metric, line.text.claim.of) for line in lines]
    if len(set(titles)) < _PAIR:
        return lines
    return [
        replace(line, hypothesis=f"{title} of {line.hypothesis}")
        for title, line in zip(titles, lines, strict=True)
    ]


def intervals_note(summary: Summary) -> str:
    """Return why a claim's interval is not that of its answer; empty where both are the same."""
    families = [
        {one.title for one in comparison.cases}
        for comparison in summary.comparisons
        if len(comparison.cases) > _PAIR
    ]
    for claim in summary.claims:
        for instance in claim.instances:
            a, b = instance.a, instance.b
            sides = set() if b is None else {a.case.title, b.case.title}
            if sides and any(sides <= family for family in families):
                return _NOTE
    return ""


def counted_states(lines: Sequence[ClaimLine]) -> str:
    """Return how many claims hold, fail, and so on."""
    counts: list[tuple[ClaimState, int]] = [
        (state, sum(line.state == state for line in lines)) for state in WORDS
    ]
    return ", ".join(f"{count} {word_of(state, count)}" for state, count in counts if count)


def word_of(state: ClaimState, count: int) -> str:
    """Return what a number of claims does: 1 holds, 2 hold."""
    return _VERBS[state] if count == 1 and state in {"holds", "fails"} else WORDS[state]


def _line(text: ClaimText, roots: Collection[str], wholes: Mapping[str, str]) -> ClaimLine:
    verdict = text.verdict
    faults = [id_ for id_ in verdict.unlike if id_ in roots] or verdict.unlike
    asserted = verdict.state in {"holds", "fails"}
    state: ClaimState = "not comparable" if asserted and faults else verdict.state
    return ClaimLine(
        state=state,
        name=text.name,
        hypothesis=_with_names(text, wholes),
        estimate=text.effect,
        published=_published(text),
        excluded=_excluded(text),
        remark=_remark(verdict, faults),
        text=text,
    )


_FAMILY: Final = "by this claim alone: among all pairs of servers it is undecided"


def _remarks(line: ClaimLine, summary: Summary) -> tuple[str, str, str]:
    return _few(line, summary), line.remark, _FAMILY if _decided_alone(line, summary) else ""


def _decided_alone(line: ClaimLine, summary: Summary) -> bool:
    """Whether a claim decides about two servers that their comparison does not tell apart."""
    instance = line.text.claim.instance(line.text.verdict.at)
    if line.state not in {"holds", "fails"} or instance is None or instance.b is None:
        return False
    sides = [case.title for case in instance.cases]
    for comparison in summary.comparisons:
        labels = zip(server_names(comparison.cases), comparison.cases, strict=True)
        servers = {label for label, case in labels if case.title in sides}
        verdict = comparison.verdict
        if len(servers) == len(sides) == _PAIR and verdict is not None:
            return verdict.state == "undecided" and servers not in map(set, verdict.pairs)
    return False


def _few(line: ClaimLine, summary: Summary) -> str:
    """Return why the number of a kind or stage is unknown, and what helps; empty if it is not."""
    text = line.text
    instance = text.claim.instance(text.verdict.at)
    if line.state != "invalid" or instance is None:
        return ""
    parts = {
        part.case.title: part
        for case in summary.cases
        for part in (*case.by_part("kind"), *case.by_part("stage"))
    }
    for name in instance.cases:
        of_part = parts[name.title].metrics if name.title in parts else ()
        for metric in of_part:
            whys = [own.sample.why for own in metric.samples if own.sample.value is None]
            if whys and (metric.metric, metric.of) == (text.claim.metric, text.claim.of):
                trials = f"{len(whys)} of {readable.counted(len(metric.samples), 'trial')}"
                helps = "a longer load, a larger share or a lower percentile helps"
                return f"{name.part_label}, in {trials} of {name.server}: {whys[0]}; {helps}"
    return ""


def _with_names(text: ClaimText, wholes: Mapping[str, str]) -> str:
    """Return the hypothesis with what tells its sides apart in place of `a` and `b`.

    `wholes` has cases with several kinds or stages: what a claim about all of them is about.
    """
    hypothesis = text.claim.hypothesis.text
    instance = text.claim.instance(text.verdict.at)
    if instance is None:
        return hypothesis
    sides = {"a": instance.a} if instance.b is None else {"a": instance.a, "b": instance.b}
    cases = [case for side in sides.values() for case in side.cases]
    parts = [case.part_label or wholes.get(case.title, "") for case in cases]
    extent = f" ({parts[0]})" if parts[0] and len(set(parts)) == 1 else ""
    if len(cases) == 1:
        return re.sub(r"\ba\b", lambda _: cases[0].server, hypothesis) + extent
    paths = [path for path in cases[0].vary if path != cases[0].part]
    rows = [
        (one.scenario, one.server, one.driver, *(str(one.vary.get(k, "")) for k in paths), part)
        for one, part in zip(cases, parts, strict=True)
    ]
    differ = [len(set(column)) > 1 for column in zip(*rows, strict=True)]
    if not any(differ):
        return hypothesis + extent
    labels = iter([" ".join(compress(row, differ)) for row in rows])
    names = {letter: " - ".join(islice(labels, len(side.cases))) for letter, side in sides.items()}
    shown = {
        letter: f"({names[letter]})" if sides[letter].minus else names[letter] for letter in names
    }
    return re.sub(r"\b[ab]\b", lambda match: shown[match[0]], hypothesis) + extent


def _published(text: ClaimText) -> str:
    if text.claim.published is None:
        return ""
    return f"published {text.published}" + (": excluded" if _excluded(text) else "")


def _excluded(text: ClaimText) -> bool | None:
    value, ends = text.claim.published, text.verdict.estimate.interval
    if value is None or ends is None:
        return None
    return not ends[0] <= value <= ends[1]


def _remark(verdict: Verdict, faults: Sequence[str]) -> str:
    if faults:
        return f"its sides are not alike ({', '.join(faults)})"
    if verdict.disturbed:
        some = len(verdict.disturbed) < len(verdict.blocks)
        return f"in {len(verdict.disturbed) if some else 'all'} of them noise met both sides"
    if verdict.blocks_needed is not None:
        return readable.blocks_that_tell(verdict.blocks_needed, len(verdict.blocks))
    return ""
