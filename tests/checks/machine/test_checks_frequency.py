"""Checks of the CPUs' clock, heat and governor."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made.quiet_trial import LIMITS, asked, header, machine, only, trial

from benchforge.checks.machine import frequency
from benchforge.model.trial.trial import Trial


def at(mean: float) -> Trial:
    return trial(machine=machine(frequency_mhz=(mean, mean, mean)))


def session(*trials: Trial, **facts: Any) -> list[Any]:
    return list(frequency.of_session(header(**facts), trials, LIMITS))


def test_a_cpu_that_was_too_hot_fails() -> None:
    assert asked(trial(), "F1").status == "pass"
    hot = asked(trial(machine=machine(overheated=3)), "F1")
    assert (hot.status, hot.value, hot.transient) == ("fail", 3, True)
    assert asked(trial(machine=machine(overheated=None)), "F1").status == "unknown"
    assert asked(trial(machine=None), "F1").status == "unknown"


@pytest.mark.parametrize(
    ("observed", "status"),
    [
        *(((2990, 3000, 3010), "pass"), ((2900, 3000, 3040), "pass"), ((2800, 3000, 3100), "warn")),
        *((None, "unknown"), ((0, 0, 0), "unknown")),
    ],
)
def test_a_frequency_that_moves_within_a_trial_warns(observed: Any, status: str) -> None:
    check = asked(trial(machine=machine(frequency_mhz=observed)), "F2")
    assert (check.status, check.subject) == (status, "apparatus")


@pytest.mark.parametrize(
    ("mean", "status"), [(3000, "pass"), (3059, "pass"), (3061, "warn"), (3151, "fail")]
)
def test_cases_at_other_frequencies_are_not_compared(mean: float, status: str) -> None:
    cases = [[at(3000), at(3000)], [at(mean), at(mean)]]
    (of_comparison,) = frequency.of_comparison(cases, LIMITS)
    check = (of_comparison.id, of_comparison.scope, of_comparison.status)
    assert check == ("F2", "comparison", status)


def test_a_frequency_that_is_not_known_of_each_is_unknown() -> None:
    hidden = trial(machine=machine(frequency_mhz=None))
    (of_comparison,) = frequency.of_comparison([[at(3000)], [at(3000), hidden]], LIMITS)
    assert of_comparison.status == "unknown"
    assert list(frequency.of_comparison([[at(3000)]], LIMITS)) == []


@given(st.floats(1, 10_000), st.floats(0.5, 2), st.floats(0.1, 10))
def test_frequencies_have_no_unit(mhz: float, ratio: float, scale: float) -> None:
    def value(first: float, second: float) -> float:
        (of_comparison,) = frequency.of_comparison([[at(first)], [at(second)]], LIMITS)
        assert of_comparison.value is not None
        return float(of_comparison.value)

    scaled = value(mhz * scale, mhz * ratio * scale)
    assert value(mhz, mhz * ratio) == pytest.approx(scaled, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize(
    ("facts", "status", "says"),
    [
        ({}, "pass", "performance"),
        ({"governor": "powersave"}, "warn", "the governor is powersave"),
        ({"boost": "1"}, "warn", "turbo"),
        ({"boost": None, "no_turbo": "0"}, "warn", "turbo"),
        ({"boost": None, "no_turbo": "1"}, "pass", "no turbo"),
        ({"boost": None}, "unknown", "turbo is not told"),
        ({"mains": False}, "warn", "on battery"),
        ({"mains": True, "power_profile": "performance"}, "pass", "performance"),
        ({"power_profile": "quiet"}, "warn", "its power profile is quiet"),
        ({"governor": None}, "unknown", "the governor is not told"),
        ({"governor": None, "virtual": True}, "unknown", "guest"),
    ],
)
def test_governor_and_turbo(facts: dict[str, Any], status: str, says: str) -> None:
    sole = only(session(**facts), "F3")
    assert sole.status == status
    assert says in sole.message


def test_a_machine_that_warms_up_warns() -> None:
    warm = [
        trial(number=number, machine=machine(temperature_c=(first, 60.0)))
        for number, first in enumerate((45.0, 49.0, 51.0), 1)
    ]
    sole = only(session(*reversed(warm)), "F4")
    assert (sole.status, sole.value) == ("warn", 6)
    assert only(session(*warm[:2]), "F4").status == "pass"
    hidden = trial(number=9, machine=machine(temperature_c=None))
    assert only(session(*warm[:2], hidden), "F4").status == "unknown"
    assert only(session(*warm, hidden), "F4").status == "warn"
    assert only(session(), "F4").status == "unknown"
