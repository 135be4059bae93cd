"""What the checks found of comparisons and of the whole result, and why numbers are doubted."""

from collections.abc import Iterable, Iterator

from benchforge.plugin import CaseSummary, Check, Summary

_WORST = ("fail", "warn", "unknown")


def of_all(summary: Summary) -> list[str]:
    """Return what was found in comparisons and in the whole result, the worst first."""
    checked = [*((check, ()) for check in summary.checks), *_compared(summary)]
    findings = [(check, where) for check, where in checked if check.status != "pass"]
    findings.sort(key=lambda of: (_WORST.index(of[0].status), of[0].id))
    return [
        f"{', '.join([f'{check.status} {check.id} {check.name}'.strip(), *where])}: {check.message}"
        for check, where in findings
    ]


def _compared(summary: Summary) -> Iterator[tuple[Check, tuple[str, ...]]]:
    """Yield the checks of each comparison, with what tells it from the others."""
    several = len({(one.scenario, one.driver) for one in summary.comparisons}) > 1
    for comparison in summary.comparisons:
        where = [*filter(None, (comparison.scenario, comparison.driver))] if several else []
        where += [f"{path.rpartition('.')[2]}={value}" for path, value in comparison.vary.items()]
        name = ("; ".join(where),) if where else ()
        yield from ((check, name) for check in comparison.checks)


def in_short(cases: Iterable[CaseSummary]) -> str:
    """Return the ids of what kept numbers from being believed; empty where all are believed."""
    doubts = [
        f"{check.id} {check.name}"
        for case in cases
        for trial in case.doubted
        if trial.used
        for check in trial.checks
    ]
    return ", ".join(dict.fromkeys(doubts))
