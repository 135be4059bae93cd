"""What a summary must be to the trials and to the header."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchforge.model.file import Fault, Parsed
from benchforge.model.folder import HEADER
from benchforge.model.meaning.found import found
from benchforge.model.meaning.plan import identity, named
from benchforge.model.meaning.said import Said, beneath
from benchforge.model.meaning.search import capacity
from benchforge.model.places import JsonPath
from benchforge.model.result import Header, MetricUse
from benchforge.model.sitting import Sitting
from benchforge.model.summary import CaseSummary, FailedTrial, Line, Summary
from benchforge.model.trial import Trial

_OF_ITS_OWN = {"format", "kind", "cases"}


def against(
    summary: Parsed[Summary],
    header: Header,
    trials: Sequence[Trial],
    sittings: Sequence[Sitting],
) -> Iterator[Fault]:
    """Say what in a summary is another than in the files that it sums up.

    It may be older than the last trials: a run that was resumed and killed did not write it anew.
    """
    told = summary.model
    for name in (told.model_fields_set & header.model_fields_set) - _OF_ITS_OWN:
        if getattr(told, name) != getattr(header, name):
            yield summary.fault(f"is another than in {HEADER}", name)
    if told.sittings != tuple(sittings)[: len(told.sittings)]:
        yield summary.fault("are others than beside it", "sittings")
    known = {trial.number: trial for trial in trials}
    metrics = {one.label: one for one in header.metrics}
    blocks = told.enough.blocks if told.enough is not None and told.complete else math.inf
    planned = Counter(identity(one.case) for one in header.plan if one.block <= blocks)
    for message, path in beneath(("enough",), _enough(told, header, trials)):
        yield summary.fault(message, *path)
    last = _last(told, sorted(known))
    every: list[tuple[JsonPath, CaseSummary]] = [
        *((("cases", number), case) for number, case in enumerate(told.cases)),
        *((("placebos", number, "again"), one.again) for number, one in enumerate(told.placebos)),
    ]
    for at, case in every:
        for message, path in beneath(at, _case(case, planned, known, metrics, last)):
            yield summary.fault(message, *path)


def _enough(told: Summary, header: Header, trials: Sequence[Trial]) -> Iterator[Said]:
    """Say what of the amount cannot be; the widths themselves are recomputed by `verify`."""
    until, found = header.until, told.enough
    if found is None:
        if until is not None and "enough" in told.model_fields_set:
            yield f"is not there, but {HEADER} says until when blocks are added", ()
        return
    if until is None:
        yield f"is there, but {HEADER} has a fixed number of blocks", ()
        return
    there = Counter(one.block for one in trials if one.attempt == 1)
    full = all(there[block] == len(header.cases) for block in range(1, found.blocks + 1))
    if not full or found.blocks > until.most:
        yield f"{found.blocks}, but not so many blocks are whole", ("blocks",)
    if found.stop and found.blocks < until.least:
        yield f"stopped after {found.blocks} of at least {until.least} blocks", ("stop",)
    if found.reached and not (found.stop and (found.half_width or math.inf) <= until.width):
        yield f"an interval wider than {until.width:g} is not what was asked for", ("reached",)
    if told.complete and not found.stop:
        yield "the summary calls itself complete, but it is not enough", ("stop",)


def _last(summary: Summary, numbers: Sequence[int]) -> int:
    """Return the last trial that there was when it was written; without samples, by their count."""
    cases = (*summary.cases, *(one.again for one in summary.placebos))
    found = {one.trial for case in cases for line in case.lines for one in line.samples}
    found |= {failed.trial for case in cases for failed in case.failed}
    found |= {doubted.trial for case in cases for doubted in case.doubted}
    found |= {one.trial for case in cases if case.capacity for one in case.capacity.attempts}
    if found:
        return max(found)
    counted = sum(case.trials for case in summary.cases)
    return max(numbers[:counted], default=0)


def _case(
    case: CaseSummary,
    planned: Mapping[str, int],
    known: Mapping[int, Trial],
    metrics: Mapping[str, MetricUse],
    last: int,
) -> Iterator[Said]:
    told = {one.trial for line in case.lines for one in line.samples}
    for missing in sorted((told | {one.trial for one in case.failed}) - known.keys()):
        yield f"speaks of trial {missing}, which is not there", ()
    if (mine := identity(case.case)) not in planned:
        yield f"{named(case.case)} is not in the plan of {HEADER}", ("case",)
        return
    if case.planned != planned[mine]:
        yield f"{case.planned}, but the plan has {planned[mine]}", ("planned",)
    of_case = [one for one in known.values() if one.number <= last and identity(one.case) == mine]
    measured = {one.number for one in of_case if one.measured}
    # Of several attempts in a block one counts.
    blocks = {one.block for one in of_case if one.measured}
    if case.trials != len(blocks):
        yield f"{case.trials}, but {len(blocks)} were measured", ("trials",)
    for odd in sorted((told & known.keys()) - measured):
        yield f"has a sample of trial {odd}, which is no measured one of this case", ("lines",)
    lost = {one.number for one in of_case} - measured - {one.trial for one in case.failed}
    for missing in sorted(lost):
        yield f"says nothing of trial {missing}, which failed", ("failed",)
    for number, one in enumerate(case.failed):
        if one.trial in known:
            yield from beneath(("failed", number), _failed(one, known[one.trial]))
    for number, line in enumerate(case.lines):
        yield from beneath(("lines", number), _line(line, known, metrics))
    yield from beneath(("capacity",), capacity(case.capacity, of_case))
    yield from found(case, of_case)


def _failed(told: FailedTrial, trial: Trial) -> Iterator[Said]:
    if trial.measured:
        yield f"trial {trial.number} was measured", ("trial",)
    if (trial.block, trial.attempt) != (told.block, told.attempt):
        yield f"trial {trial.number} has another block or attempt", ("trial",)
    if trial.failure is not None and trial.failure != told.failure:
        yield f"trial {trial.number} says another reason", ("failure",)


def _line(
    line: Line, known: Mapping[int, Trial], metrics: Mapping[str, MetricUse]
) -> Iterator[Said]:
    metric = metrics.get(line.metric)
    if metric is None:
        yield f"{HEADER} has no metric of this label", ("metric",)
    else:
        for name in ("use", "unit", "better"):
            if getattr(line, name) != getattr(metric, name):
                yield f"expected {getattr(metric, name)!r}, as in {HEADER}", (name,)
    for number, one in enumerate(line.samples):
        trial = known.get(one.trial)
        if trial is not None and trial.block != one.block:
            said = f"{one.block}, but trial {one.trial} is of block {trial.block}"
            yield said, ("samples", number, "block")
