"""The claims of a suite with their verdicts: what was asked, what came of it, how sure it is."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchforge.plugin import Claim, Summary, Verdict, readable

NOT_JUDGED = "claims are not judged, a smoke measures nothing"
HEADS: Final = ("verdict", "claim", "holds if", "found", "published")
_WORST: Final = ("fails", "invalid", "inconclusive")


@dataclass(frozen=True)
class ClaimText:
    """A question of a claim, and what is said of it."""

    claim: Claim
    verdict: Verdict

    @property
    def name(self) -> str:
        """The claim's label, and the value that it is asked for."""
        return _name(self.verdict)

    @property
    def effect(self) -> str:
        """The estimate with its interval; why there is none."""
        return _effect(self.verdict)

    @property
    def published(self) -> str:
        """What a source says; empty where the suite does not tell."""
        value = self.claim.published
        if value is None:
            return ""
        if self.claim.hypothesis.form == "ratio":
            return f"{readable.exact(value)}x"
        return _with_unit(readable.scale(self.verdict.unit, [value]), [value])

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands below each of HEADS."""
        text = self.claim.hypothesis.text
        return self.verdict.state, self.name, text, self.effect, self.published

    @property
    def line(self) -> str:
        """All of it in one line."""
        published = f"published: {self.published}" if self.published else ""
        remarks = filter(None, (self.effect, published, self.claim.says))
        says = "; ".join((self.claim.hypothesis.text, *remarks))
        return f"{self.verdict.state}: {self.name}: {says}"


def texts(summary: Summary) -> list[ClaimText]:
    """Return each question with its verdict, in the order of the suite."""
    claims = {claim.label: claim for claim in summary.claims}
    return [ClaimText(claims[one.claim], one) for one in summary.verdicts if one.claim in claims]


def sentences(claim_texts: Sequence[ClaimText]) -> Iterator[tuple[str, str]]:
    """Yield for each question a title, and all that is said of it."""
    for claim_text in claim_texts:
        wrong = (
            f"What was wrong with the source: {claim_text.claim.original}"
            if claim_text.claim.original
            else ""
        )
        title = (
            f"{claim_text.name}: {claim_text.claim.says}"
            if claim_text.claim.says
            else claim_text.name
        )
        yield (
            f"{claim_text.verdict.state}: {title.rstrip('.')}.",
            " ".join(filter(None, (claim_text.verdict.sentence, wrong))),
        )


def tally(summary: Summary) -> Iterator[str]:
    """Yield what nobody may overlook: what fails, what is invalid, and what is not known yet."""
    if summary.claims and summary.smoke:
        labels = ", ".join(claim.label for claim in summary.claims)
        yield f"{NOT_JUDGED}: {labels}"
    for state in _WORST:
        names = [_in_short(one) for one in summary.verdicts if one.state == state]
        if names:
            yield f"{state}: {', '.join(names)}"


def _in_short(verdict: Verdict) -> str:
    if verdict.blocks_needed is not None:
        tells = readable.blocks_that_tell(verdict.blocks_needed, len(verdict.blocks))
        return f"{_name(verdict)} ({tells})"
    return _name(verdict)


def _name(verdict: Verdict) -> str:
    at = [
        f"{axis.rpartition('.')[2]}={value if isinstance(value, str) else json.dumps(value)}"
        for axis, value in verdict.at.items()
    ]
    return " ".join([verdict.claim, *at])


def _effect(verdict: Verdict) -> str:
    estimate = verdict.estimate
    if estimate.value is None:
        return verdict.why or estimate.why
    if verdict.sides:
        return " against ".join(
            readable.percent(one.value) for one in verdict.sides if one.value is not None
        )
    ends = [] if estimate.interval is None else list(estimate.interval)
    if estimate.method == "paired t of log-ratios":
        shown = f"{readable.times(estimate.value)}x"
        return _value_and_ends(shown, map(readable.times, ends)) + _blocks(verdict)
    unit_scale = readable.scale(verdict.unit, [estimate.value, *ends])
    shown = _with_unit(unit_scale, [estimate.value])
    return _value_and_ends(shown, map(unit_scale.text, ends)) + _blocks(verdict)


def _value_and_ends(shown: str, ends: Iterable[str]) -> str:
    return f"{shown} ({' to '.join(ends) or 'no interval'})"


def _blocks(verdict: Verdict) -> str:
    return f", {readable.counted(len(verdict.blocks), 'block')}"


def _with_unit(unit_scale: readable.Scale, values: Sequence[float]) -> str:
    unit = "" if unit_scale.unit == "1" else f" {unit_scale.unit}"
    return f"{unit_scale.text(values[0])}{unit}"
