"""Which cases are compared with one another."""

from collections.abc import Collection, Iterable

from benchforge.model.values.case_name import CaseName, clients_of, comparison

__all__ = ["Identity", "groups", "identity"]

Identity = tuple[str, str, str, str, int]


def identity(case: CaseName) -> Identity:
    """Return what a case is told by: labels of its scenario, server and driver, and its digest."""
    # What varies is part of the digest; two labels may stand for the same options.
    return case.scenario, case.server, case.driver, case.digest, case.arm


def groups(cases: Iterable[CaseName], clients: Collection[str]) -> list[tuple[CaseName, ...]]:
    """Return the cases that are compared with one another, in the order of the suite.

    Servers have the scenario, the driver and all that varies in common, their own options apart.
    `clients` has the labels of scenarios whose clients are compared, each with the same server. A
    placebo is in no group: it is compared with its own case alone.
    """
    grouped: dict[str, list[CaseName]] = {}
    for case in cases:
        if case.placebo:
            continue
        key = clients_of(case) if case.scenario in clients else comparison(case)
        grouped.setdefault(key, []).append(case)
    return [tuple(group) for group in grouped.values()]
