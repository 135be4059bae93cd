"""What speaks against a verdict: checks of its trials, of its comparisons and of the result."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from benchforge.model.check import Check
from benchforge.model.summary import CaseSummary, Line, Summary
from benchforge.model.times import speaks_of
from benchforge.model.verdict import Against

Letter = Literal["a", "b", "both", ""]

_REPETITIONS = "S3"
"Counts the blocks of the poorest pair of a comparison; a verdict counts its own."
_PLACEBO = "S4"
_WORST = ("fail", "warn")
_BROKEN = "ask"
"The stage of a trial in which the right answer has to come."


class Sides(NamedTuple):
    """The cases that each side of a question rests on."""

    a: tuple[CaseSummary, ...]
    b: tuple[CaseSummary, ...]

    @property
    def all(self) -> tuple[CaseSummary, ...]:
        """Of both."""
        return self.a + self.b

    def letter(self, of: str) -> Letter:
        """Return whose cases a check is about that names a case, a server or a driver."""
        in_a, in_b = (any(of in _names(one) for one in side) for side in self)
        return "both" if in_a and in_b else "a" if in_a else "b" if in_b else ""


def against(summary: Summary, sides: Sides, line: Line | None) -> tuple[Against, ...]:
    """Return what speaks against a verdict on a line, failures first, what one side did before."""
    every = [*_of_trials(sides), *_of_comparisons(summary, sides), *_of_all(summary, sides)]
    found = [one for one in every if speaks_of(one.check, line)]
    once = {(one.check.id, one.check.status, one.check.of, one.side): one for one in found}
    return tuple(
        sorted(
            once.values(),
            key=lambda one: (
                _WORST.index(one.check.status),
                not one_sided(one),
                one.check.id,
                one.check.of,
            ),
        )
    )


def one_sided(one: Against) -> bool:
    """Whether it is what one side alone did: the two did not do the same work."""
    return one.check.about == "behaviour" and one.side in {"a", "b"}


def broken(sides: Sides) -> str:
    """Return where a right answer did not come: what `expect` says was broken; empty if nowhere."""
    for one in sides.all:
        for failed in one.failed:
            failure = failed.failure
            if failure.stage == _BROKEN and failure.about == "behaviour":
                return f"{one.case.server}, trial {failed.trial}: {failure.message}"
    return ""


def spoiled(found: Iterable[Against]) -> list[Check]:
    """Return the failures of the apparatus: none of them leaves anything to be believed."""
    return [
        one.check for one in found if (one.check.status, one.check.about) == ("fail", "apparatus")
    ]


def _of_trials(sides: Sides) -> Iterator[Against]:
    """Yield the findings of each side. Where the apparatus failed, the trial is not used at all."""
    told: dict[str, dict[tuple[str, str, str], Check]] = {"a": {}, "b": {}}
    for letter, cases in zip(told, sides, strict=True):
        for check in (finding.check for one in cases for finding in one.findings):
            if check.status in _WORST and (check.about, check.status) != ("apparatus", "fail"):
                # Of response times it may be a percentile: one is not the other.
                part = check.of if check.numbers == "latency" else ""
                told[letter].setdefault((check.id, check.status, part), check)
    for key, check in told["a"].items():
        yield Against(check=check, side="both" if key in told["b"] else "a")
    for key, check in told["b"].items():
        if key not in told["a"]:
            yield Against(check=check, side="b")


def _of_comparisons(summary: Summary, sides: Sides) -> Iterator[Against]:
    """Yield what was asked of the groups that the sides were measured in."""
    cases = [one.case for one in sides.all]
    for group in summary.comparisons:
        if not any(case in cases for case in group.cases):
            continue
        others = {
            name for one in group.cases if one not in cases for name in (one.title, one.server)
        }
        for check in group.checks:
            if check.status in _WORST and check.id != _REPETITIONS:
                letter = sides.letter(check.of)
                if letter or check.of not in others:
                    yield Against(check=check, side=letter)


def _of_all(summary: Summary, sides: Sides) -> Iterator[Against]:
    """Yield what was asked of the whole result, unless it is about something else of it."""
    names = {name for one in summary.cases for name in _names(one)}
    for check in summary.checks:
        if check.status not in _WORST:
            continue
        if check.id == _PLACEBO:
            scenarios = {one.of.scenario for one in summary.placebos if one.of.title == check.of}
            if scenarios & {one.case.scenario for one in sides.all}:
                yield Against(check=check, side="")
        elif (letter := sides.letter(check.of)) or check.of not in names:
            yield Against(check=check, side=letter)


def _names(one: CaseSummary) -> Sequence[str]:
    return one.case.title, one.case.server, one.case.driver
