"""Rules for a header: its suite, its cases and its plan."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator

from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.files.result import Header
from benchforge.model.values.case_name import CaseName
from benchforge.text.readable import exact
from benchforge.text.safe import HIDDEN


def planned(header: Parsed[Header]) -> Iterator[FileFault]:
    """Say what in a header cannot be."""
    model = header.model
    written = hashlib.sha256(model.suite.encode()).hexdigest()
    # Without its secrets the text is not the one that was digested.
    if HIDDEN not in model.suite and written != model.suite_sha256:
        yield header.fault("is not the digest of `suite`", "suite_sha256")
    yield from _cases(header)
    yield from _places(header)
    blocks = model.plan[-1].block if model.plan else 0
    if model.until is not None and model.until.most != blocks:
        message = f"at most {model.until.most} blocks, but the plan has {blocks}"
        yield header.fault(message, "until", "most")


def identity(case: CaseName) -> str:
    """Return all that a case is, as a text that can be compared."""
    return json.dumps(case.model_dump(mode="json"), sort_keys=True)


def named(case: CaseName) -> str:
    """Return a case for people."""
    return f"the case {case.title!r}"


def _cases(header: Parsed[Header]) -> Iterator[FileFault]:
    cases = set(map(identity, header.model.cases))
    for number, entry in enumerate(header.model.plan):
        if identity(entry.case) not in cases:
            yield header.fault(f"{named(entry.case)} is not in `cases`", "plan", number, "case")
    in_plan = {identity(entry.case) for entry in header.model.plan}
    for number, case in enumerate(header.model.cases):
        if identity(case) not in in_plan:
            yield header.fault(f"{named(case)} is not in the plan", "cases", number)


def _places(header: Parsed[Header]) -> Iterator[FileFault]:
    """A block is one pass over all cases: each of them once, counted from 1."""
    block, position = 1, 0
    declared: dict[str, float] = {}
    often: Counter[tuple[int, str]] = Counter()
    for number, entry in enumerate(header.model.plan):
        if entry.block == block + 1 and position:
            block, position = entry.block, 0
        position += 1
        if (entry.block, entry.position) != (block, position):
            message = f"expected block {block}, position {position}: the plan is in order"
            yield header.fault(message, "plan", number, "position")
            return
        often[block, identity(entry.case)] += 1
        if often[block, identity(entry.case)] > 1:
            message = f"{named(entry.case)} stands twice in block {block}"
            yield header.fault(message, "plan", number, "case")
        if declared.setdefault(identity(entry.case), entry.declared_s) != entry.declared_s:
            declared_s = exact(entry.declared_s)
            message = f"{declared_s} s, but elsewhere in the plan {named(entry.case)} has others"
            yield header.fault(message, "plan", number, "declared_s")
