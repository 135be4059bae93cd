"""What a header must be in itself: its suite, its cases and its plan."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator

from benchforge.model.file import Fault, Parsed
from benchforge.model.result import Header
from benchforge.model.trial import CaseName

_HIDDEN = "***"
"What stands in place of a secret: then the text is not the one that was digested."


def planned(header: Parsed[Header]) -> Iterator[Fault]:
    """Say what in a header cannot be."""
    told = header.model
    written = hashlib.sha256(told.suite.encode()).hexdigest()
    if _HIDDEN not in told.suite and written != told.suite_sha256:
        yield header.fault("is not the digest of `suite`", "suite_sha256")
    yield from _cases(header)
    yield from _places(header)
    blocks = told.plan[-1].block if told.plan else 0
    if told.until is not None and told.until.most != blocks:
        said = f"at most {told.until.most} blocks, but the plan has {blocks}"
        yield header.fault(said, "until", "most")


def identity(case: CaseName) -> str:
    """Return all that a case is, as a text that can be compared."""
    return json.dumps(case.model_dump(mode="json"), sort_keys=True)


def named(case: CaseName) -> str:
    """Return a case as people are told of it."""
    return f"the case {case.title!r}"


def _cases(header: Parsed[Header]) -> Iterator[Fault]:
    cases = set(map(identity, header.model.cases))
    for number, one in enumerate(header.model.plan):
        if identity(one.case) not in cases:
            yield header.fault(f"{named(one.case)} is not in `cases`", "plan", number, "case")
    in_plan = {identity(one.case) for one in header.model.plan}
    for number, case in enumerate(header.model.cases):
        if identity(case) not in in_plan:
            yield header.fault(f"{named(case)} is not in the plan", "cases", number)


def _places(header: Parsed[Header]) -> Iterator[Fault]:
    """A block is one pass over all cases: each of them once, counted from 1."""
    block, position = 1, 0
    declared: dict[str, float] = {}
    often: Counter[tuple[int, str]] = Counter()
    for number, one in enumerate(header.model.plan):
        if one.block == block + 1 and position:
            block, position = one.block, 0
        position += 1
        if (one.block, one.position) != (block, position):
            said = f"expected block {block}, position {position}: the plan is in order"
            yield header.fault(said, "plan", number, "position")
            return
        often[block, identity(one.case)] += 1
        if often[block, identity(one.case)] > 1:
            said = f"{named(one.case)} stands twice in block {block}"
            yield header.fault(said, "plan", number, "case")
        if declared.setdefault(identity(one.case), one.declared_s) != one.declared_s:
            said = f"{one.declared_s:g} s, but elsewhere in the plan {named(one.case)} has others"
            yield header.fault(said, "plan", number, "declared_s")
