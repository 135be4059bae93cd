"""What the checks found, told once for all cases that it is about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchforge.plugin import CaseSummary, Check, Summary

_WORST = ("fail", "warn", "unknown")
_BUT = 2
"So many cases that are left out are named in place of the others."


@dataclass(frozen=True)
class FindingGroup:
    """One check with one answer, in all cases of a scenario that have it."""

    check: Check
    "The worst."
    cases: tuple[str, ...]
    trials: int
    of: int
    among: tuple[str, ...] = ()
    "All cases of which something is known."

    @property
    def where(self) -> str:
        """For a person: which cases it is about."""
        others = [name for name in self.among if name not in self.cases]
        if len(self.cases) > _BUT >= len(others) and self.among:
            but = f" but {'; '.join(others)}" if others else ""
            return f"all {len(self.among)} cases{but}"
        return "; ".join(self.cases)

    @property
    def line(self) -> str:
        """For a person: the answer, the check, how often, and the worst of it."""
        name = f"{self.check.id} {self.check.name}".strip()
        where = f", {self.where}" if self.cases else ""
        often = f" ({self.trials} of {self.of} trials{where})" if self.of else where
        return f"{self.check.status} {name}{often}: {self.check.message}"


def finding_groups(cases: Sequence[CaseSummary], names: Sequence[str]) -> list[FindingGroup]:
    """Return what the checks found in cases, the worst first, each check once for each answer."""
    alike_by_check: dict[tuple[str, str], list[tuple[str, CaseSummary, int]]] = {}
    for name, case in zip(names, cases, strict=True):
        for place, finding in enumerate(case.findings):
            key = finding.check.status, finding.check.id
            alike_by_check.setdefault(key, []).append((name, case, place))
    among = tuple(name for name, case in zip(names, cases, strict=True) if case.trials)
    return sorted((_group(alike, among) for alike in alike_by_check.values()), key=_rank)


def of_all(summary: Summary) -> list[FindingGroup]:
    """Return what was found in comparisons and in the whole result, the worst first."""
    groups: list[FindingGroup] = [_alone(check, ()) for check in summary.checks]
    several = len({(one.scenario, one.driver) for one in summary.comparisons}) > 1
    for comparison in summary.comparisons:
        where = (comparison.scenario, comparison.driver) if several else ()
        vary = tuple(
            f"{path.rpartition('.')[2]}={value}" for path, value in comparison.vary.items()
        )
        groups += [_alone(check, (*where, *vary)) for check in comparison.checks]
    return sorted((one for one in groups if one.check.status != "pass"), key=_rank)


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


def _group(alike: Sequence[tuple[str, CaseSummary, int]], among: tuple[str, ...]) -> FindingGroup:
    findings = [case.findings[place] for _, case, place in alike]
    worst = max(findings, key=lambda finding: finding.check.value or 0.0)
    by_case: dict[str, tuple[int, int]] = {}
    for (name, _, _), finding in zip(alike, findings, strict=True):
        most = max(finding.trials, by_case.get(name, (0, 0))[0])
        by_case[name] = most, finding.attempts
    trials, of = (sum(counts) for counts in zip(*by_case.values(), strict=True))
    return FindingGroup(worst.check, tuple(by_case), trials, of, among)


def _alone(check: Check, cases: tuple[str, ...]) -> FindingGroup:
    return FindingGroup(check, cases, 0, 0)


def _rank(group: FindingGroup) -> tuple[int, int, str]:
    return _WORST.index(group.check.status), -group.trials, group.check.id
