"""Which cases are compared with one another."""

from collections.abc import Iterable

from benchforge.model.values.case_name import CaseName, comparison, shared

__all__ = ["Identity", "groups", "identity", "shared"]

Identity = tuple[str, str, str, str, int]


def identity(case: CaseName) -> Identity:
    """Return what a case is told by: labels of its scenario, server and driver, and its digest."""
    # What varies is part of the digest; two labels may stand for the same options.
    return case.scenario, case.server, case.driver, case.digest, case.arm


def groups(cases: Iterable[CaseName]) -> list[tuple[CaseName, ...]]:
    """Return the cases that are compared with one another, in the order of the suite.

    They have the scenario, the driver and all that varies in common, servers' own options apart. A
    placebo is in none: it is compared with its own case alone.
    """
    grouped: dict[str, list[CaseName]] = {}
    for case in cases:
        if case.placebo:
            continue
        grouped.setdefault(comparison(case), []).append(case)
    return [tuple(group) for group in grouped.values()]
