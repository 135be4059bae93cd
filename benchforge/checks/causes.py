"""Causes of findings: each finding of a result stands below exactly one.

A check may compute its cause (`Check.because`). Otherwise the first of its causes in limits.toml
counts that did not pass in the same trial or comparison. A finding without one is a root.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, get_args

from benchforge.checks.limits import Thresholds
from benchforge.model.summary.cause import Cause, CauseState, FoldedFinding
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.check import Audience, Check
from benchforge.model.trial.trial import Trial

_AUDIENCES: Final[tuple[Audience, ...]] = get_args(Audience)
_STATES: Final[tuple[CauseState, ...]] = get_args(CauseState)
_STATUSES: Final = ("fail", "warn", "unknown")
Key = tuple[str, CauseState]


class _Finding(NamedTuple):
    """A finding where it is made: a result has tens of thousands, and folds them into few."""

    check: Check
    scenario: str = ""
    case: str = ""
    server: str = ""
    trials: tuple[int, ...] = ()


def with_causes(summary: Summary, trials: Sequence[Trial], limits: Thresholds) -> Summary:
    """Return the summary with the causes of all findings of the trials, comparisons and result."""
    by_cause: dict[Key, list[_Finding]] = {}
    for key, finding in _rooted(summary, trials, limits):
        by_cause.setdefault(key, []).append(finding)
    causes = (_cause(key, findings, summary, limits) for key, findings in by_cause.items())
    return summary.model_copy(update={"causes": tuple(sorted(causes, key=_importance))})


def audience(check: Check, limits: Thresholds) -> Audience:
    """Return whom a finding concerns: as its limit says, or by what it is about."""
    by_id = limits.by_id
    limit = by_id.get(f"{check.id}.{check.component}") or by_id.get(check.id)
    if check.status == "unknown":
        return "limits" if check.may_hide_wrong_answers else limit.unknown if limit else "expert"
    about: Audience = "invalid" if check.subject == "apparatus" else "limits"
    failed = about if limit is None or limit.audience is None else limit.audience
    if check.status == "fail":
        return failed
    if limit is not None and limit.warned is not None:
        return limit.warned
    return "limits" if failed == "invalid" else failed


def spoken(checks: Iterable[Check]) -> dict[str, str]:
    """Return the ids of the checks that warn or fail, each with the cause that it computed."""
    spoke: dict[str, str] = {}
    for check in checks:
        if check.status in {"warn", "fail"}:
            spoke[check.id] = spoke.get(check.id) or check.because
    return spoke


def root(check: Check, spoke: Mapping[str, str], limits: Thresholds) -> str:
    """Return the id of the cause of a finding among those that spoke beside it, or its own."""
    id_, because, passed = check.id, check.because, {check.id}
    while True:
        limit = limits.by_id.get(id_)
        possible = (because,) if because else () if limit is None else limit.causes
        cause = next((id_ for id_ in possible if id_ in spoke and id_ not in passed), None)
        if cause is None:
            return id_
        id_, because = cause, spoke[cause]
        passed.add(cause)


def _rooted(
    summary: Summary, trials: Sequence[Trial], limits: Thresholds
) -> Iterator[tuple[Key, _Finding]]:
    cases = [*summary.cases, *(placebo.repeated for placebo in summary.placebos)]
    aside = {doubted.trial for case in cases for doubted in case.doubted if not doubted.used}
    by_title: dict[str, dict[str, str]] = {}
    for trial in trials:
        case, spoke, mended = trial.case, spoken(trial.checks), set[str]()
        title = case.title
        if trial.number in aside:
            mended = {root(check, spoke, limits) for check in trial.doubts}
        else:
            by_title.setdefault(title, {}).update(spoke)
        for check in _findings(trial.checks):
            where = case.scenario, title, case.server, (trial.number,)
            yield _key(check, spoke, limits, mended), _Finding(check, *where)
    for comparison in summary.comparisons:
        spoke = spoken(comparison.checks)
        for name in comparison.cases:
            spoke |= by_title.get(name.title, {})
        for check in _findings(comparison.checks):
            yield _key(check, spoke, limits), _Finding(check, comparison.scenario)
    everywhere = spoken(summary.checks)
    for spoke in by_title.values():
        everywhere |= spoke
    for check in _findings(summary.checks):
        yield _key(check, everywhere, limits), _Finding(check)


def _findings(checks: Iterable[Check]) -> list[Check]:
    return [check for check in checks if check.status != "pass"]


def _key(
    check: Check, spoke: Mapping[str, str], limits: Thresholds, mended: Container[str] = ()
) -> Key:
    id_ = root(check, spoke, limits)
    if id_ in mended:
        return id_, "dealt with"
    if check.status == "unknown" and id_ == check.id:
        return check.because or id_, "unknown"
    return id_, "open"


def _cause(key: Key, findings: Sequence[_Finding], summary: Summary, limits: Thresholds) -> Cause:
    id_, state = key
    ids = {finding.check.id for finding in findings if state == "open"}
    against = [row.claim for row in summary.verdicts if ids & {o.check.id for o in row.objections}]
    # What follows from a cause is as bad as the cause, unless it makes a number invalid.
    of_ids = [(finding.check.id, audience(finding.check, limits)) for finding in findings]
    audiences = [audience_of for id_of, audience_of in of_ids if id_of == id_] or [
        audience_of for _, audience_of in of_ids
    ]
    audiences += [audience_of for _, audience_of in of_ids if audience_of == "invalid"]
    return Cause(
        id=id_,
        audience=next(audience_ for audience_ in _AUDIENCES if audience_ in audiences),
        state=state,
        verdicts=tuple(dict.fromkeys(against)),
        count=len(findings),
        trials=tuple(sorted({number for finding in findings for number in finding.trials})),
        findings=tuple(sorted(_folded(findings), key=lambda finding: _rank(finding, id_))),
    )


def _folded(findings: Sequence[_Finding]) -> Iterator[FoldedFinding]:
    alike: dict[tuple[str, ...], list[_Finding]] = {}
    for finding in findings:
        check, where = finding.check, (finding.scenario, finding.case)
        key = check.id, check.status, check.scope, *where, check.component
        alike.setdefault(key, []).append(finding)
    for equal in alike.values():
        worst = max(equal, key=lambda finding: finding.check.value or 0.0)
        values = [finding.check.value for finding in equal if finding.check.value is not None]
        yield FoldedFinding(
            check=worst.check,
            count=len(equal),
            scenario=worst.scenario,
            case=worst.case,
            server=worst.server,
            trials=tuple(number for finding in equal for number in finding.trials),
            values=(min(values), max(values)) if values else None,
        )


def _rank(finding: FoldedFinding, id_: str) -> tuple[bool, int, str, int]:
    check = finding.check
    return check.id != id_, _STATUSES.index(check.status), check.id, -finding.count


def _importance(cause: Cause) -> tuple[int, int, int, int, str]:
    rank = _STATES.index(cause.state), _AUDIENCES.index(cause.audience)
    return (*rank, -len(cause.verdicts), -len(cause.trials), cause.id)
