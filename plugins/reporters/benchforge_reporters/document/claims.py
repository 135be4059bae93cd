"""The claims of a suite: what each asked, what came of it, and what a source had published."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, islice
from typing import Final, Literal, NamedTuple

from benchforge.plugin import Claim, Summary, Verdict, readable, server_names, titled
from benchforge_reporters.terminal.paint import Meaning

ClaimState = Literal["holds", "not comparable", "fails", "inconclusive", "invalid"]
_FAMILY: Final = "by this claim alone: among all pairs of servers it is undecided"


class _State(NamedTuple):
    sign: str
    meaning: Meaning
    verb: str
    "Outcome of a hypothesis."
    of_several: str


STATES: Final[dict[ClaimState, _State]] = {
    "holds": _State("✔", "good", "holds", "hold"),
    "not comparable": _State("!", "limits", "cannot be judged", "not comparable"),
    "fails": _State("✕", "bad", "does not hold", "do not hold"),
    "inconclusive": _State("?", "limits", "is undecided", "undecided"),
    "invalid": _State("\N{EN DASH}", "bad", "is invalid", "invalid"),
}
HEADS: Final = ("verdict", "claim", "holds if", "found", "published")
_WORST: Final = ("fails", "invalid", "inconclusive")
_PAIR: Final = 2  # servers: their interval is the same in an answer and in a claim
_NOTE: Final = "Intervals of answers hold for all pairs together: they are wider than a claim's."


@dataclass(frozen=True)
class ClaimLine:
    """A question of a claim, and its answer."""

    claim: Claim
    verdict: Verdict
    state: ClaimState
    hypothesis: str
    "Statement that is tested, with the names of its sides."
    remark: str
    "Reason against the answer, or what it takes to decide; may be empty."

    @property
    def sign(self) -> str:
        """The state as a single character."""
        return STATES[self.state].sign

    @property
    def word(self) -> str:
        """The state as a page shows it."""
        return "undecided" if self.state == "inconclusive" else self.state

    @property
    def name(self) -> str:
        """The claim's label, and the value that it is asked for."""
        return _name(self.verdict)

    @property
    def title(self) -> str:
        """The verdict, the name, and what the claim says."""
        title = ": ".join(filter(None, (self.name, self.claim.says)))
        return f"{self.verdict.state}: {title.rstrip('.')}."

    @property
    def sentence(self) -> str:
        """The verdict, with what was wrong with the source."""
        wrong = self.claim.original and f"What was wrong with the source: {self.claim.original}"
        return " ".join(filter(None, (self.verdict.sentence, wrong)))

    @property
    def estimate(self) -> str:
        """The estimate with its interval, or the reason why there is none."""
        verdict, estimate = self.verdict, self.verdict.estimate
        if estimate.value is None:
            return verdict.why or estimate.why
        if verdict.sides:
            values = (side.value for side in verdict.sides if side.value is not None)
            return " against ".join(map(readable.percent, values))
        ends = [] if estimate.interval is None else list(estimate.interval)
        if estimate.method == "paired t of log-ratios":
            value, texts = f"{readable.times(estimate.value)}x", [*map(readable.times, ends)]
        else:
            unit_scale = readable.scale(verdict.unit, [estimate.value, *ends])
            value, texts = _with_unit(unit_scale, estimate.value), [*map(unit_scale.text, ends)]
        blocks = readable.counted(len(verdict.blocks), "block")
        return f"{value} ({' to '.join(texts) or 'no interval'}), {blocks}"

    @property
    def published(self) -> str:
        """Value that a source gives; empty without a source."""
        value = self.claim.published
        if value is None:
            return ""
        if self.claim.hypothesis.form == "ratio":
            return f"{readable.exact(value)}x"
        return _with_unit(readable.scale(self.verdict.unit, [value]), value)

    @property
    def source(self) -> str:
        """The published value, and whether the interval excludes it; empty without a source."""
        excluded = ": excluded" if self.excluded else ""
        return f"published {self.published}{excluded}" if self.published else ""

    @property
    def excluded(self) -> bool | None:
        """True if the interval excludes the published value; None without either."""
        value, ends = self.claim.published, self.verdict.estimate.interval
        return None if value is None or ends is None else not ends[0] <= value <= ends[1]

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts below HEADS."""
        text = self.claim.hypothesis.text
        return self.verdict.state, self.name, text, self.estimate, self.published


def claim_lines(summary: Summary) -> list[ClaimLine]:
    """Return a line for each question, in the order of the suite."""
    roots = {cause.id for cause in summary.causes}
    divided = [case for case in summary.cases if case.kinds or case.stages]
    extents = {each.case.title: "all kinds" if each.kinds else "the whole load" for each in divided}
    claims = {claim.label: claim for claim in summary.claims}
    asked_verdicts = [verdict for verdict in summary.verdicts if verdict.claim in claims]
    plain = (_line(claims[each.claim], each, roots, extents) for each in asked_verdicts)
    lines = [replace(line, remark=_remarks(line, summary)) for line in plain]
    titles = [titled(line.claim.metric, line.claim.of) for line in lines]
    if len(set(titles)) < _PAIR:
        return lines
    pairs = zip(titles, lines, strict=True)
    return [replace(line, hypothesis=f"{title} of {line.hypothesis}") for title, line in pairs]


def tally(summary: Summary) -> Iterator[str]:
    """Yield the claims that fail, those that are invalid, and those that are undecided."""
    if summary.claims and summary.smoke:
        labels = ", ".join(claim.label for claim in summary.claims)
        yield f"claims are not judged, a smoke measures nothing: {labels}"
    for state in _WORST:
        if verdicts := [verdict for verdict in summary.verdicts if verdict.state == state]:
            yield f"{state}: {', '.join(map(_in_short, verdicts))}"


def intervals_note(summary: Summary) -> str:
    """Return why a claim's interval is not that of its answer; empty where both are the same."""
    families = [
        {case.title for case in comparison.cases}
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


def claim_states(lines: Sequence[ClaimLine]) -> str:
    """Return how many claims hold, and what those say that do not; or what all say."""
    failing = [line for line in lines if line.state != "holds"]
    texts = [(line.claim.says or line.name).rstrip(".") for line in failing or lines]
    more = f"; and {len(texts) - 3} more" * (len(texts) > 3)  # noqa: PLR2004 - as many are read
    states = counted_states(lines)
    if not failing and len(lines) > 1:
        states = "both hold" if len(lines) == 2 else f"all {states}"  # noqa: PLR2004
    return f"{states}: {'; '.join(texts[:3])}{more}"


def counted_states(lines: Sequence[ClaimLine]) -> str:
    """Return how many claims hold, fail, and so on."""
    return ", ".join(f"{count} {word}" for _, count, word in claim_counts(lines))


def claim_counts(lines: Sequence[ClaimLine]) -> Iterator[tuple[ClaimState, int, str]]:
    """Yield each state that occurs, of how many claims, and what these do: 1 holds, 2 hold."""
    for state, (_, _, verb, of_several) in STATES.items():
        if count := sum(line.state == state for line in lines):
            yield state, count, verb if count == 1 and state in {"holds", "fails"} else of_several


def _line(
    claim: Claim, verdict: Verdict, roots: Collection[str], extents: Mapping[str, str]
) -> ClaimLine:
    faults = [id_ for id_ in verdict.unlike if id_ in roots] or verdict.unlike
    asserted = verdict.state in {"holds", "fails"}
    state: ClaimState = "not comparable" if asserted and faults else verdict.state
    hypothesis = _with_names(claim, verdict, extents)
    return ClaimLine(claim, verdict, state, hypothesis, _remark(verdict, faults))


def _remarks(line: ClaimLine, summary: Summary) -> str:
    family = _FAMILY if _decided_alone(line, summary) else ""
    return "; ".join(filter(None, (_few(line, summary), line.remark, family)))


def _decided_alone(line: ClaimLine, summary: Summary) -> bool:
    """Return whether a claim decides about two servers that their comparison leaves undecided."""
    instance = line.claim.instance(line.verdict.at)
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
    instance = line.claim.instance(line.verdict.at)
    if line.state != "invalid" or instance is None:
        return ""
    parts = [(*case.by_part("kind"), *case.by_part("stage")) for case in summary.cases]
    by_title = {part.case.title: part.metrics for part in chain(*parts)}
    for name in instance.cases:
        for metric in by_title.get(name.title, ()):
            whys = [sample.sample.why for sample in metric.samples if sample.sample.value is None]
            if whys and (metric.metric, metric.of) == (line.claim.metric, line.claim.of):
                trials = f"{len(whys)} of {readable.counted(len(metric.samples), 'trial')}"
                helps = "a longer load, a larger share or a lower percentile helps"
                return f"{name.part_label}, in {trials} of {name.server}: {whys[0]}; {helps}"
    return ""


def _with_names(claim: Claim, verdict: Verdict, extents: Mapping[str, str]) -> str:
    """Return the hypothesis with what tells its sides apart instead of `a` and `b`.

    `extents` says of a case with several kinds or stages what a claim about all of them covers.
    """
    hypothesis = claim.hypothesis.text
    if (instance := claim.instance(verdict.at)) is None:
        return hypothesis
    sides = {"a": instance.a} if instance.b is None else {"a": instance.a, "b": instance.b}
    cases = [case for side in sides.values() for case in side.cases]
    parts = [case.part_label or extents.get(case.title, "") for case in cases]
    extent = f" ({parts[0]})" if parts[0] and len(set(parts)) == 1 else ""
    if len(cases) == 1:
        return re.sub(r"\ba\b", lambda _: cases[0].server, hypothesis) + extent
    paths = [path for path in cases[0].vary if path != cases[0].part]
    rows = [
        (
            case.scenario,
            case.server,
            case.driver,
            *(str(case.vary.get(key, "")) for key in paths),
            part,
        )
        for case, part in zip(cases, parts, strict=True)
    ]
    differ = [len(set(column)) > 1 for column in zip(*rows, strict=True)]
    if not any(differ):
        return hypothesis + extent
    labels = iter([" ".join(compress(row, differ)) for row in rows])
    names = {letter: " - ".join(islice(labels, len(side.cases))) for letter, side in sides.items()}
    names |= {letter: f"({names[letter]})" for letter, side in sides.items() if side.minus}
    return re.sub(r"\b[ab]\b", lambda match: names[match[0]], hypothesis) + extent


def _remark(verdict: Verdict, faults: Sequence[str]) -> str:
    if faults:
        return f"its sides are not alike ({', '.join(faults)})"
    if verdict.disturbed:
        is_part = len(verdict.disturbed) < len(verdict.blocks)
        return f"in {len(verdict.disturbed) if is_part else 'all'} of them noise met both sides"
    if verdict.blocks_needed is not None:
        return readable.blocks_that_tell(verdict.blocks_needed, len(verdict.blocks))
    return ""


def _in_short(verdict: Verdict) -> str:
    if verdict.blocks_needed is None:
        return _name(verdict)
    tells = readable.blocks_that_tell(verdict.blocks_needed, len(verdict.blocks))
    return f"{_name(verdict)} ({tells})"


def _name(verdict: Verdict) -> str:
    axes = [
        f"{axis.rpartition('.')[2]}={value if isinstance(value, str) else json.dumps(value)}"
        for axis, value in verdict.at.items()
    ]
    return " ".join([verdict.claim, *axes])


def _with_unit(unit_scale: readable.Scale, value: float) -> str:
    unit = "" if unit_scale.unit == "1" else f" {unit_scale.unit}"
    return f"{unit_scale.text(value)}{unit}"
