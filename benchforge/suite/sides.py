"""Each side of a suite's claims is exactly one case."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from pydantic import JsonValue

from benchforge.model.claim import Asked, Claim, Term
from benchforge.model.pivot import NAMES, coordinate
from benchforge.model.trial import CaseName
from benchforge.suite.asking import Meant, all_meant, meant
from benchforge.suite.claims import Sound
from benchforge.suite.complaints import Complaints
from benchforge.suite.positions import Path
from benchforge.suite.words import shown


def resolved(
    found: Mapping[str, Sound],
    cases_of: Callable[[str], Iterable[CaseName]],
    complaints: Complaints,
) -> tuple[Claim, ...]:
    """Return the claims with their cases; complain of each side that is not exactly one case.

    `cases_of` knows every scenario that a claim may name, those that are not to be run too.
    """
    known: dict[str, list[CaseName]] = {}
    for one in found.values():
        for wanted in all_meant(one.written, one.at, {}):
            if wanted.scenario not in known:
                cases = cases_of(wanted.scenario)
                known[wanted.scenario] = [case for case in cases if not case.placebo]
    claims: list[Claim] = []
    for label, one in found.items():
        written = one.written
        if asked := _asked(one, known, complaints):
            claims.append(
                Claim(
                    label=label,
                    says=written.says,
                    metric=written.metric,
                    of=one.of,
                    question=one.question,
                    margin=float(written.margin),
                    published=written.published,
                    original=written.original,
                    asked=tuple(asked),
                )
            )
    return tuple(claims)


def of_cases(claims: Iterable[Claim], names: Iterable[CaseName]) -> tuple[Claim, ...]:
    """Return the claims all of whose cases are there, with what each case is: digest and arm."""
    there = {_known_by(name): name for name in names if not name.placebo}

    def term(one: Term) -> Term:
        minus = None if one.minus is None else there[_known_by(one.minus)]
        return Term(case=there[_known_by(one.case)], minus=minus)

    def asked(one: Asked) -> Asked:
        return Asked(at=one.at, a=term(one.a), b=None if one.b is None else term(one.b))

    return tuple(
        claim.model_copy(update={"asked": tuple(map(asked, claim.asked))})
        for claim in claims
        if all(_known_by(case) in there for case in claim.cases)
    )


def _known_by(case: CaseName) -> str:
    return case.model_copy(update={"digest": "", "arm": 1}).model_dump_json()


def _asked(
    one: Sound, known: Mapping[str, Sequence[CaseName]], complaints: Complaints
) -> list[Asked]:
    """Return each question of a claim; complain of the first side that is not exactly one case."""
    found: list[Asked] = []
    axis = one.written.each
    points: list[dict[str, JsonValue]] = (
        [{}] if axis is None else [{axis: value} for value in one.each]
    )
    near: list[list[list[CaseName]]] | None = None
    for point in points:
        sides = [list(meant(one.written, (*one.at, key), point)) for key in ("a", "b")]
        if near is None:  # what all points have in common is looked at once: cases may be many
            near = [[_cases(of, known[of.scenario], but=axis) for of in side] for side in sides]
        cases = [
            [_cases(of, left) for of, left in zip(side, there, strict=True)]
            for side, there in zip(sides, near, strict=True)
        ]
        if point and not any(chain.from_iterable(cases)):
            continue  # the matrix has no such point
        if not _are_one_each(list(chain(*sides)), list(chain(*cases)), complaints):
            return found
        a, b = (_term([case for (case,) in side]) for side in cases)
        _check_differ(one.at, a, b, complaints)
        if a is not None:
            found.append(Asked(at=point, a=a, b=b))
    if not found:
        complaints.at(one.at, "no case is left", "no case has all of these values")
    elif len(found) > 1 and found[0].model_copy(update={"at": found[1].at}) == found[1]:
        hint = "leave it out, or name an axis that a side's case is about"
        complaints.at((*one.at, "each"), "no side differs by it", hint)
    return found


def _cases(of: Meant, cases: Sequence[CaseName], but: str | None = None) -> list[CaseName]:
    """Return the cases that are meant, whatever they are on the axis `but`.

    An axis that a case is not about is passed over.
    """
    wanted = [(axis, value) for axis, value in of.where.items() if axis != but]
    wanted.sort(key=lambda one: one[0] not in NAMES)  # what leaves out most comes first
    return [case for case in cases if all(_stands(case, *one) for one in wanted)]


def _stands(case: CaseName, axis: str, value: JsonValue) -> bool:
    """Whether a case stands there, as `coordinate` tells: this is asked of many, and often."""
    one = getattr(case, axis) if axis in NAMES else case.vary.get(axis, value)
    return type(one) is type(value) and bool(one == value)


def _are_one_each(
    sides: Sequence[Meant], cases: Sequence[Sequence[CaseName]], complaints: Complaints
) -> bool:
    for wanted, of in zip(sides, cases, strict=True):
        said = ", ".join(f"{axis} {shown(value)}" for axis, value in wanted.where.items())
        here = f"of scenario {wanted.scenario!r}" + (f" with {said}" if said else "")
        if not of:
            complaints.at(wanted.at, f"no case {here}", "no case has all of these values")
        elif len(of) > 1:
            differ = {
                axis: list(values)
                for axis in (*NAMES, *dict.fromkeys(path for case in of for path in case.vary))
                if len(values := dict.fromkeys(coordinate(case, axis) for case in of)) > 1
            }
            told = "; ".join(
                f"{axis} ({', '.join(filter(None, values))})" for axis, values in differ.items()
            )
            complaints.at(
                wanted.at, f"{len(of)} cases {here}: they differ in {told}", _narrower(differ)
            )
    return all(len(of) == 1 for of in cases)


def _narrower(differ: Mapping[str, Sequence[str]]) -> str:
    """Return what to add so that one case is left."""
    axis, values = next(iter(differ.items()))
    value = next(filter(None, values))
    if axis == "server":
        return f"name one: server = {value}"
    if axis == "driver":
        return f"name one: loader = {value}, or client"
    return f'name one: where = {{ "{axis}" = {value} }}, or ask for each = "{axis}"'


def _check_differ(at: Path, a: Term | None, b: Term | None, complaints: Complaints) -> None:
    for key, one in (("a", a), ("b", b)):
        if one is not None and one.case == one.minus:
            complaints.at((*at, key, "minus"), "is the same case as its side", "name another one")
    if a is not None and a == b:
        complaints.at((*at, "b"), "is the same case as a", "name another one")


def _term(cases: Sequence[CaseName]) -> Term | None:
    match cases:
        case [of, minus]:
            return Term(case=of, minus=minus)
        case [of]:
            return Term(case=of)
        case _:
            return None
