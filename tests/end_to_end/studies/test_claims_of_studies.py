"""The sixty claims of five studies: each is asked, as published and, where that was wrong, anew."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchforge.model.suite.claim import Claim
from benchforge.model.values.case_name import CaseName
from benchforge.parts.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load
from benchforge.suite.plan import START_AND_STOP_S, plan
from benchforge.suite.suite import Suite

SUITES = Path(__file__).parents[3] / "suites/studies"
STUDIES = {
    "http-clients": "PC",
    "cherrypy": "CP",
    "threads-vs-async": "RA",
    "api-hour": "AH",
    "wsgi": "WS",
}
# The ratio of the two published numbers; of CP7, which asks for a time, seconds.
_BY_STUDY: dict[str, tuple[float | None, ...]] = {
    "PC": (2.07, 2.589, 7.205, 6.533, 6.0, 2.866, 1.0, 1.856, 1.294, 1.228, 1.62, 1.014, 1.026),
    "CP": (3.858, 2.319, 2.148, 0.91, 0.322, 1.245, 0.002414),
    "RA": (1.574, 1.58, 1.583, 1.583, 1.001, 1.005),
    "AH": (
        *(4.991, 5.631, 6.592, 7.17, 0.981, 3.998, 1.472, 2.221, 12.161, 13.305),
        *(17.449, 2.919, 3.016, 1.284, 0.0, 4.825, 1.19, 0.913),
    ),
    "WS": (
        *(2.185, 0.868, 4.59, 2.061, 1.724, 2.382, 1.58, 0.913, 1.317, 0.242, 0.337),
        *(1.196, 0.403, 0.951, 0.554, None),
    ),
}
PUBLISHED = {
    f"{study}{number}": ratio
    for study, ratios in _BY_STUDY.items()
    for number, ratio in enumerate(ratios, 1)
}
# What was void, confounded or compared with the wrong row is asked once more.
CORRECTED = {
    *("PC7", "CP6", "CP7", "RA5", "AH3", "AH4", "AH5", "AH6", "AH9", "AH10", "AH11", "AH12"),
    *("AH13", "AH18", "WS1", "WS2", "WS8", "WS10", "WS11", "WS15"),
}
MINUTES = 40
COUNTED_S = 1.0
"A load of a thousand requests takes less than that; the plan's guess is 10 s."
TOGETHER_S = 1.0
"Start and stop of each server in turns, since they start together: 0.6 s, or 2.7 s with Virtuoso."


def suite(stem: str, profile: str | None = "claims") -> Suite:
    return load(SUITES / f"{stem}.toml", Registry(), profile=profile)


def claims() -> dict[str, Claim]:
    return {claim.label: claim for stem in STUDIES for claim in suite(stem).claims}


def test_all_sixty_are_there() -> None:
    actual = claims()
    assert len(PUBLISHED) == 60
    assert {label: actual[label].published for label in PUBLISHED} == PUBLISHED
    for label, claim in actual.items():
        assert claim.says, label
        base, _, form = label.partition("_")
        assert base in PUBLISHED, label
        assert form in {"", "corrected", "text", "django", "equal"}, label
    for stem, prefix in STUDIES.items():
        assert {re.sub(r"\d.*", "", claim.label) for claim in suite(stem).claims} == {prefix}


def test_what_was_wrong_is_said_and_asked_anew() -> None:
    actual = claims()
    for label in CORRECTED:
        pair = actual[label], actual[f"{label}_corrected"]
        assert all(item.original for item in pair), label
        wrong, corrected = ((item.instances, item.metric, item.hypothesis) for item in pair)
        assert corrected != wrong, label


@pytest.mark.parametrize("stem", STUDIES)
def test_the_profile_of_claims_asks_all_of_them_and_judges(stem: str) -> None:
    request = suite(stem)
    assert request.claims_to_test == request.claims
    assert not request.smoke
    assert request.repeat.blocks >= 5


def test_all_of_it_takes_less_than_forty_minutes() -> None:
    seconds = 0.0
    for stem in STUDIES:
        request = suite(stem)
        graph = plan(expand(request), request.repeat, seed=1)
        counted = stem == "threads-vs-async"
        loads_s = COUNTED_S * len(graph) if counted else graph.declared_s
        starts_s = (TOGETHER_S if item.case.turns else START_AND_STOP_S for item in graph)
        seconds += loads_s + sum(starts_s)
    assert seconds < MINUTES * 60, seconds


def places(names: Iterable[CaseName]) -> set[tuple[str, str, str]]:
    return {(name.scenario, name.server, name.driver) for name in names}


def test_what_claims_take_is_measured_and_nothing_else() -> None:
    """No case of the profile is one that no claim asks for."""
    for stem in STUDIES:
        request = suite(stem)
        wanted = [case for claim in request.claims_to_test for case in claim.cases]
        names = [item.name for item in expand(request)]
        assert places(names) - places(wanted) == set(), stem
