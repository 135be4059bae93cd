"""How closely a result knows what it was asked: the widths that `until` waits for.

A pure function of the header and the trials: who goes on after a kill decides as if there had been
none. Only whole blocks are looked at.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from benchforge.model.claim import Claim
from benchforge.model.result import Header
from benchforge.model.summary import Line
from benchforge.model.times import speaks_of
from benchforge.model.titled import titled
from benchforge.model.trial import CaseName, Trial
from benchforge.model.verdict import Enough, Estimate
from benchforge.parts.part import Metric
from benchforge.stats.case import course, used_of
from benchforge.stats.compare import ratio
from benchforge.stats.groups import Identity, groups, identity
from benchforge.stats.interval import typical
from benchforge.stats.line import by_block, lines, paired
from benchforge.stats.repetition import enough, half_width
from benchforge.stats.whole import whole
from benchforge.stats.windows import together, window_of


class Sought(NamedTuple):
    """What has to be known closely: a ratio of two cases, or the value of one alone."""

    metric: str
    of: str | None
    "The part of the metric; None for its first."
    ours: CaseName
    theirs: CaseName | None

    @property
    def same(self) -> object:
        """What is the same whichever side stands first."""
        sides = (one for one in (self.ours, self.theirs) if one is not None)
        return self.metric, self.of, frozenset(map(identity, sides))

    @property
    def told(self) -> str:
        """For a person: the sides, and the metric."""
        what = titled(self.metric, self.of)
        if self.theirs is None:
            return f"{self.ours.title} in {what}"
        if self.ours.scenario != self.theirs.scenario:
            return f"{self.ours.title} / {self.theirs.title} in {what}"
        theirs = self.theirs.title.removeprefix(f"{self.theirs.scenario} · ")
        return f"{self.ours.title} / {theirs} in {what}"


def sought(header: Header) -> tuple[Sought, ...]:
    """Return each pair of cases that is compared, by what the claims of its scenario name.

    Without a claim it is the first metric of the scenario; a case that is compared with none has
    its value in place of a ratio. What a claim compares across groups is a pair as well.
    """
    found: dict[object, Sought] = {}
    for group in groups(header.cases):
        pairs: list[tuple[CaseName, CaseName | None]] = [*combinations(group, 2)]
        for metric, of in _metrics(header, group[0].scenario):
            for ours, theirs in pairs or [(group[0], None)]:
                one = Sought(metric, of, ours, theirs)
                found[one.same] = one
    for claim in header.claims:
        for asked in claim.asked:
            theirs = None if asked.b is None else asked.b.case
            one = Sought(claim.metric, claim.of, asked.a.case, theirs)
            found.setdefault(one.same, one)
    return tuple(found.values())


def precise(
    header: Header,
    trials: Sequence[Trial],
    metrics: Mapping[str, Metric],
    asked: Sequence[Sought] | None = None,
) -> Enough | None:
    """Return whether the whole blocks of a result are enough; None where their number was given.

    `asked` is what has to be known closely; `sought` tells it without. Only believed trials count,
    each pair by the blocks that have both. A case of which no trial could be measured is not waited
    for, nor one whose response times are not believed in any trial: too few requests stay too few.
    One whose trials are not believed is: noise may go.
    """
    until = header.until
    if until is None:
        return None
    n = whole(header, trials)
    questions = sought(header) if asked is None else asked
    values = _values(header, [trial for trial in trials if trial.block <= n], metrics, questions)
    known = [_estimate(one, values, n) for one in questions]
    found = enough(known, n, until.width, until.least, until.most)
    widths = [half_width(one) for one in known]
    widest = found.half_width
    told = "" if widest is None else questions[widths.index(widest)].told
    return found.model_copy(update={"widest": told})


def _metrics(header: Header, scenario: str) -> list[tuple[str, str | None]]:
    claimed = {(claim.metric, claim.of): None for claim in header.claims if _about(claim, scenario)}
    labels = header.takes.get(scenario, tuple(one.label for one in header.metrics))
    return [*claimed] or [(label, None) for label in labels[:1]]


def _about(claim: Claim, scenario: str) -> bool:
    return any(one.a.case.scenario == scenario for one in claim.asked)


_Values = dict[tuple[Identity, str, str | None], dict[int, float] | None]
"By case and metric: of each block the value that is believed; None where there will be none."


def _values(
    header: Header,
    trials: Sequence[Trial],
    metrics: Mapping[str, Metric],
    questions: Sequence[Sought],
) -> _Values:
    used: dict[Identity, list[Trial]] = {identity(case): [] for case in header.cases}
    for trial in trials:
        used[identity(trial.case)].append(trial)
    used = {case: used_of(of) for case, of in used.items()}
    found: _Values = {}
    for group in groups(header.cases):
        settled = [course(used[identity(case)]) for case in group]
        window = together(settled)
        for case, own in zip(group, settled, strict=True):
            me = identity(case)
            asked = {(one.metric, one.of) for one in questions if case in (one.ours, one.theirs)}
            for metric, of in asked:
                made = lines(used[me], {metric: metrics[metric]}, window_of(own, window))
                line = next((one for one in made if of in (None, one.of)), None)
                believed = {trial.number for trial in used[me] if _believed(trial, line)}
                values = {} if line is None else by_block(line, believed)
                doubted = any(not trial.believed for trial in used[me])
                found[me, metric, of] = values if values or doubted else None
    return found


def _believed(trial: Trial, line: Line | None) -> bool:
    """Whether what a trial says of a line is to be believed."""
    times = any(speaks_of(check, line) for check in trial.latency_doubts)
    return trial.believed and not times


def _estimate(one: Sought, values: _Values, n: int) -> Estimate:
    """Return what is known after n blocks."""
    ours = values[identity(one.ours), one.metric, one.of]
    theirs = ours if one.theirs is None else values[identity(one.theirs), one.metric, one.of]
    if ours is None or theirs is None:
        case = one.ours if ours is None else one.theirs or one.ours
        why = f"{case.title} has no {one.metric}"
        return Estimate(method="paired t of log-ratios", level=0.95, n=n, why=why)
    if one.theirs is None:
        return typical([ours[block] for block in sorted(ours)])
    return ratio(*paired(ours, theirs))
