"""Which older results a new one is compared with, and why not with others."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchforge.errors import BenchforgeError, Unusable
from benchforge.parts.registry import Registry
from benchforge.results.conclude import Summed, results_in, summed
from benchforge.results.over_time.differences import hard
from benchforge.results.over_time.levels import by_key, lines, reference_of

_ELSEWHERE = "measure both on one machine, or add --anyway, which marks the output"


@dataclass(frozen=True)
class Older:
    """What a new result is compared with."""

    results: tuple[Summed, ...]
    "Results in order of time."
    left_out: tuple[str, ...]
    "Results in the named folders that are left out, each with its reason."
    doubts: tuple[str, ...]
    "Differences that forbid the comparison, if it is made anyway."


def older(
    new: Summed,
    named: Sequence[Path],
    registry: Registry,
    reference: str | None,
    *,
    anyway: bool,
    earlier: bool,
) -> Older:
    """Return the results that are named, or lie in a folder that is, as far as they can be taken.

    One that is named and cannot be compared ends it; in a folder it is left out, and told. With
    `earlier`, they must have begun before the new one. Raises Unusable and InvalidFile.
    """
    taken: list[Summed] = []
    left_out: list[str] = []
    doubts: dict[str, None] = {}
    for path in named:
        there = list(results_in(path)) or [path]
        alone = there == [path]
        for folder in there:
            if not alone and folder.resolve() == new.path.resolve():
                continue
            try:
                candidate = summed(folder, registry)
                _comparable(candidate, new, reference, earlier=earlier)
                against = list(_against(candidate, new, reference))
                if against and not anyway:
                    raise Unusable(f"{folder}: {'; '.join(against)}", _ELSEWHERE)
            except BenchforgeError as error:
                if alone:
                    raise
                left_out.append(error.message)
                continue
            if any(candidate.same(other) for other in taken):
                left_out.append(f"{folder}: is there already")
                continue
            taken.append(candidate)
            doubts.update(dict.fromkeys(against))
    if not taken:
        first = f": {left_out[0]}" if left_out else ""
        raise Unusable(f"no older result to compare with{first}", _ELSEWHERE)
    taken.sort(key=lambda result: result.summary.created)
    return Older(tuple(taken), tuple(left_out), tuple(doubts))


def _comparable(old: Summed, new: Summed, reference: str | None, *, earlier: bool) -> None:
    """Raise Unusable where no word can make two results comparable."""
    if old.same(new):
        raise Unusable(f"{old.path}: is the same result as {new.path}", "name another one")
    if earlier and old.summary.created > new.summary.created:
        message = f"{old.path}: was measured after {new.path}"
        raise Unusable(message, "name the new result first, then --against and the older ones")
    ours, theirs = by_key(new.summary), by_key(old.summary)
    both = [key for key in ours if key in theirs]
    if not both:
        message = f"{old.path} and {new.path} have no case in common"
        raise Unusable(message, "cases match by scenario, server, driver and varied options")
    if reference is not None and all(one.case.server != reference for one in theirs.values()):
        servers = ", ".join(sorted({one.case.server for one in theirs.values()}))
        raise Unusable(
            f"{old.path}: no server {reference!r} in it", f"available servers: {servers}"
        )
    pairs = [(lines(theirs[key]), lines(ours[key])) for key in both]
    if not any(then.keys() & now.keys() for then, now in pairs):
        for then, now in pairs:
            for was in then:
                for is_ in now:
                    if (was.metric, was.of) == (is_.metric, is_.of):
                        message = f"{old.path}: {was.title} is in {was.unit or 1}, in {new.path} in"
                        raise Unusable(f"{message} {is_.unit or 1}", "these are different metrics")
        raise Unusable(f"{old.path} and {new.path} have no metric in common")


def _against(old: Summed, new: Summed, reference: str | None) -> Iterator[str]:
    """Yield what forbids to compare two results, each with both values."""
    if old.summary.name != new.summary.name:
        yield f"suite was {old.summary.name!r}, is {new.summary.name!r}"
    for result in (old, new):
        if result.summary.smoke:
            yield f"{result.path} is a smoke: its numbers mean nothing"
    yield from hard(old, new)
    if reference is None:
        return
    theirs = by_key(old.summary)
    for case in by_key(new.summary).values():
        now = reference_of(case.case, reference, by_key(new.summary))
        then = reference_of(case.case, reference, theirs)
        if now and then and now.case.digest != then.case.digest:
            yield f"the reference {reference} has changed: options, code or data"
            return
