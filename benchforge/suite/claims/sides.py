"""Each side of a suite's claims is exactly one case."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from pydantic import JsonValue

from benchforge.model.suite.claim import Claim, ClaimInstance, Term
from benchforge.model.suite.pivot import AXIS_NAMES, differences
from benchforge.model.values.case_name import KIND, STAGE, CaseName
from benchforge.suite.claims.read import SoundClaim
from benchforge.suite.claims.where import Meant, all_meant, meant
from benchforge.suite.toml.faults import Checked, Fault
from benchforge.suite.toml.models import shown
from benchforge.suite.toml.positions import Path


def resolved(
    sound: Mapping[str, SoundClaim], cases_of: Callable[[str], Iterable[CaseName]]
) -> Checked[tuple[Claim, ...]]:
    """Return the claims, each side with its case; `cases_of` gives those of any scenario."""
    by_scenario: dict[str, list[CaseName]] = {}
    for claim in sound.values():
        for wanted in all_meant(claim.written, claim.at):
            if wanted.scenario not in by_scenario:
                cases = cases_of(wanted.scenario)
                by_scenario[wanted.scenario] = [case for case in cases if not case.placebo]
    claims: list[Claim] = []
    for label, claim in sound.items():
        written = claim.written
        if instances := (yield from _instances(claim, by_scenario)):
            claims.append(
                Claim(
                    label=label,
                    says=written.says,
                    metric=written.metric,
                    of=claim.of,
                    hypothesis=claim.question,
                    margin=float(written.margin),
                    published=written.published,
                    original=written.original,
                    instances=tuple(instances),
                )
            )
    return tuple(claims)


def of_cases(claims: Iterable[Claim], names: Iterable[CaseName]) -> tuple[Claim, ...]:
    """Return the claims all of whose cases are there, with what each case is: digest and arm."""
    known_names = {_known_by(name): name for name in names if not name.placebo}

    def term(side: Term) -> Term:
        minus = None if side.minus is None else known_names[_known_by(side.minus)]
        return Term(case=known_names[_known_by(side.case)], minus=minus)

    def identified(instance: ClaimInstance) -> ClaimInstance:
        return ClaimInstance(
            at=instance.at, a=term(instance.a), b=None if instance.b is None else term(instance.b)
        )

    return tuple(
        claim.model_copy(update={"instances": tuple(map(identified, claim.instances))})
        for claim in claims
        if all(_known_by(case) in known_names for case in claim.cases)
    )


def _known_by(case: CaseName) -> str:
    return case.model_copy(update={"digest": "", "arm": 1}).model_dump_json()


def _instances(
    claim: SoundClaim, by_scenario: Mapping[str, Sequence[CaseName]]
) -> Checked[list[ClaimInstance]]:
    tests: list[ClaimInstance] = []
    axis = claim.written.each
    points: list[dict[str, JsonValue]] = [{axis: value} for value in claim.each] if axis else [{}]
    near: list[list[list[CaseName]]] | None = None
    for point in points:
        sides = [list(meant(claim.written, (*claim.at, key), point)) for key in ("a", "b")]
        if near is None:  # what all points have in common is looked at once: cases may be many
            near = [
                [_cases(meant_, by_scenario[meant_.scenario], but=axis) for meant_ in side]
                for side in sides
            ]
        cases = [
            [_cases(meant_, rest) for meant_, rest in zip(side, rests, strict=True)]
            for side, rests in zip(sides, near, strict=True)
        ]
        if point and not any(chain.from_iterable(cases)):
            continue  # the matrix has no such point
        side_faults = list(_side_faults(list(chain(*sides)), list(chain(*cases))))
        yield from side_faults
        if side_faults:
            return tests
        names = [[case for (case,) in side] for side in cases]  # one, and what is subtracted
        a, b = (Term(case=it[0], minus=next(iter(it[1:]), None)) if it else None for it in names)
        yield from _same_faults(claim.at, a, b)
        if a is not None:
            tests.append(ClaimInstance(at=point, a=a, b=b))
    if not tests:
        yield Fault(claim.at, "no case is left", "no case has all of these values")
    elif len(tests) > 1 and tests[0].model_copy(update={"at": tests[1].at}) == tests[1]:
        hint = "leave it out, or name an axis of a side's case"
        yield Fault((*claim.at, "each"), "no case of a side has this axis", hint)
    return tests


def _cases(meant_: Meant, cases: Sequence[CaseName], but: str | None = None) -> list[CaseName]:
    """Return the cases that fit, with any value on the axis `but` and on axes without effect."""
    part = next((axis for axis in (KIND, STAGE) if axis in meant_.where or but == axis), "")
    cases = [case for case in cases if part == case.part]
    wanted = [(axis, value) for axis, value in meant_.where.items() if axis != but]
    wanted.sort(key=lambda axis: axis[0] not in AXIS_NAMES)  # what leaves out most comes first
    return [case for case in cases if all(_stands(case, *axis) for axis in wanted)]


def _stands(case: CaseName, axis: str, value: JsonValue) -> bool:
    """Return True if a case has this coordinate; fast, since there are many cases."""
    actual = getattr(case, axis) if axis in AXIS_NAMES else case.vary.get(axis, value)
    return type(actual) is type(value) and bool(actual == value)


def _side_faults(sides: Sequence[Meant], cases: Sequence[Sequence[CaseName]]) -> Iterator[Fault]:
    for wanted, cases_of_side in zip(sides, cases, strict=True):
        position = ", ".join(f"{axis} {shown(value)}" for axis, value in wanted.where.items())
        described = f"of scenario {wanted.scenario!r}" + (f" with {position}" if position else "")
        if not cases_of_side:
            yield Fault(wanted.at, f"no case {described}", "no case has all of these values")
        elif len(cases_of_side) > 1:
            differ = differences(cases_of_side)
            listed = "; ".join(
                f"{axis} ({', '.join(filter(None, values))})" for axis, values in differ.items()
            )
            message = f"{len(cases_of_side)} cases {described}: they differ in {listed}"
            yield Fault(wanted.at, message, _narrower(differ))


def _narrower(differ: Mapping[str, Sequence[str]]) -> str:
    axis, values = next(iter(differ.items()))
    value = next(filter(None, values))
    if axis in ("server", KIND, STAGE):
        return f"name one: {axis} = {value}"
    if axis == "driver":
        return f"name one: loader = {value}, or client"
    return f'name one: where = {{ "{axis}" = {value} }}, or test each = "{axis}"'


def _same_faults(path: Path, a: Term | None, b: Term | None) -> Iterator[Fault]:
    for key, term in (("a", a), ("b", b)):
        if term is not None and term.case == term.minus:
            yield Fault((*path, key, "minus"), "is the same case as its side", "name another one")
    if a is not None and a == b:
        yield Fault((*path, "b"), "is the same case as a", "name another one")
