"""Objections to a verdict: checks of its trials, of its comparisons and of the result."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from benchforge.model.summary.doubts import speaks_of
from benchforge.model.summary.summary import CaseSummary, MetricSummary, Summary
from benchforge.model.summary.verdict import Objection
from benchforge.model.trial.check import Check
from benchforge.model.values.case_name import CaseName

Letter = Literal["a", "b", "both", ""]
_WORST = ("fail", "warn")
_PAIR = " / "
"Separator of two names, of a check about both."


class Sides(NamedTuple):
    """The cases that each side of a question rests on."""

    a: tuple[CaseSummary, ...]
    b: tuple[CaseSummary, ...]

    @property
    def all(self) -> tuple[CaseSummary, ...]:
        """Of both."""
        return self.a + self.b

    def letter(self, label: str) -> Letter:
        """Return whose cases a check is about that names a case, a server or a driver."""
        in_a, in_b = (any(label in _labels(case.case) for case in side) for side in self)
        return "both" if in_a and in_b else "a" if in_a else "b" if in_b else ""


def against(summary: Summary, sides: Sides, line: MetricSummary | None) -> tuple[Objection, ...]:
    """Return the objections to a verdict on a line: failures first, then those of one side."""
    candidates = [*_of_trials(sides), *_of_comparisons(summary, sides), *_of_all(summary, sides)]
    once: dict[tuple[str, ...], Objection] = {}
    for objection in candidates:
        check = objection.check
        if speaks_of(check, line):
            once[check.id, check.status, check.component, objection.side] = objection

    def order(objection: Objection) -> tuple[int, bool, str, str]:
        check = objection.check
        return _WORST.index(check.status), not one_sided(objection), check.id, check.component

    return tuple(sorted(once.values(), key=order))


def one_sided(objection: Objection) -> bool:
    """Whether an objection is to one side's behaviour: the two did not do the same work."""
    return objection.check.subject == "behaviour" and objection.side in {"a", "b"}


def spoiled(objections: Iterable[Objection]) -> list[Check]:
    """Return the failures of the apparatus: none of them leaves anything to be believed."""
    return [
        objection.check
        for objection in objections
        if (objection.check.status, objection.check.subject) == ("fail", "apparatus")
    ]


def _of_trials(sides: Sides) -> Iterator[Objection]:
    """Yield the findings of each side. Where the apparatus failed, the trial is not used at all."""
    by_side: dict[str, dict[tuple[str, str, str], Check]] = {"a": {}, "b": {}}
    for letter, cases in zip(by_side, sides, strict=True):
        for check in (finding.check for case in cases for finding in case.findings):
            if check.status in _WORST and (check.subject, check.status) != ("apparatus", "fail"):
                # Of response times it may be a percentile: one is not the other.
                part = check.component if check.invalidates == "latency" else ""
                by_side[letter].setdefault((check.id, check.status, part), check)
    for key, check in by_side["a"].items():
        yield Objection(check=check, side="both" if key in by_side["b"] else "a")
    for key, check in by_side["b"].items():
        if key not in by_side["a"]:
            yield Objection(check=check, side="b")


def _of_comparisons(summary: Summary, sides: Sides) -> Iterator[Objection]:
    cases = [case_summary.case for case_summary in sides.all]
    for group in summary.comparisons:
        if not any(case in cases for case in group.cases):
            continue
        names = (each.case for each in summary.cases if each.case.scenario == group.scenario)
        others = {label for name in names if name not in cases for label in _labels(name)}
        others -= {label for name in cases for label in _labels(name)}
        for check in group.checks:
            # The blocks of a comparison's poorest pair say nothing: a verdict counts its own.
            if check.status in _WORST and check.topic != "blocks":
                letter = sides.letter(check.component)
                of_pair = check.component.split(_PAIR)
                labels = {label.partition(" (")[0] for label in of_pair}  # without what varies
                elsewhere = len(of_pair) > 1 and bool(labels & others)
                if letter or not (check.component in others or elsewhere):
                    yield Objection(check=check, side=letter)


def _of_all(summary: Summary, sides: Sides) -> Iterator[Objection]:
    """Yield the findings of the whole result, unless they are about other cases."""
    names = {label for each in summary.cases for label in _labels(each.case)}
    for check in summary.checks:
        if check.status not in _WORST:
            continue
        if check.topic == "placebo":
            placebos = [each.case for each in summary.placebos]
            scenarios = {case.scenario for case in placebos if case.title == check.component}
            if scenarios & {case_summary.case.scenario for case_summary in sides.all}:
                yield Objection(check=check, side="")
        elif (letter := sides.letter(check.component)) or check.component not in names:
            yield Objection(check=check, side=letter)


def _labels(case: CaseName) -> Sequence[str]:
    return case.title, case.within, case.server, case.driver
