"""The thresholds: data, and how a value is judged by them."""

import pytest

from benchforge.checks.limits import limits

LIMITS = limits()


def test_each_limit_has_a_name_and_a_source() -> None:
    assert all(value.name and value.source for value in LIMITS.by_id.values())


def test_a_limit_of_several_has_the_words_of_its_check_and_numbers_of_its_own() -> None:
    cpu, pages = LIMITS["N3.cpu"], LIMITS["M1.read"]
    assert (cpu.name, cpu.unit, cpu.transient) == ("pressure", "of the time", True)
    assert (cpu.warn, cpu.fail) == (0.10, 0.30)
    assert (pages.warn, pages.fail, pages.unit) == (10, None, "pages read from a disk")
    assert (LIMITS["L3"].below, LIMITS["L3.synthetic"].below) == (True, False)
    check = LIMITS.check("N3.cpu", "apparatus", 0.2, "says").about("cpu")
    assert (check.id, check.status) == ("N3", "warn")
    assert check.threshold == "warn at 0.1, fail at 0.3 of the time"


@pytest.mark.parametrize("id_", ["N1", "N2", "P2", "L5"])
def test_a_machine_that_is_never_quiet_loosens_both_by_as_much(id_: str) -> None:
    limit = LIMITS[id_]
    assert limit.warn is not None
    assert limit.fail is not None
    loose = LIMITS.loosened({id_: limit.warn * 2, "no such": 1.0})[id_]
    assert loose.warn == limit.warn * 2
    assert loose.fail == pytest.approx(limit.fail + limit.warn)
    assert LIMITS.loosened({id_: limit.warn / 2}) == LIMITS
