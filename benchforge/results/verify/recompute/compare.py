"""Comparison of a result's numbers with those that its raw files give, in several processes."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from benchforge.model.files.file import FileFault, Parsed
from benchforge.model.values.forked import forked
from benchforge.model.values.places import JsonPath
from benchforge.parts.registry import Registry
from benchforge.results.recomputed.large_summary import ComparedLines, is_large
from benchforge.results.recomputed.verified import Verified, compare_values
from benchforge.results.validity.faults import FolderFiles, contradictions
from benchforge.results.verify.form import LARGEST_SUMMARY, Level, ListedFiles, verified_form
from benchforge.results.verify.recompute import cases, plan, trials, turns
from benchforge.results.verify.recompute.recomputed import Recomputation, Result
from benchforge.results.verify.recompute.summary import reports, summary

EVIDENCE: tuple[Recomputation, ...] = (
    *(trials.there, cases.cases, plan.order, plan.places, plan.looks, plan.attempts),
    *(plan.metrics, plan.finds, plan.questions, trials.answers, trials.readings),
    *(trials.observations, trials.monitors, trials.thresholds, trials.checks, trials.failures),
    *(trials.searches, cases.streams, turns.planned, turns.slices),
)
"In this order: what differs first is the cause of what differs later."
OF_TRIALS: tuple[Recomputation, ...] = (
    *(trials.answers, trials.readings, trials.observations, trials.monitors),
    *(trials.checks, trials.failures),
)
"Of these, what looks at each trial alone: several processes share them out."
NUMBERS: tuple[Recomputation, ...] = (summary, reports)

STATED = ("created", "facts", "hosts", "placement", "runtimes", "versions")
"What the header states of time, machine and programs: the manifest alone vouches for it."

LATER = "blocks after the last one"
"Whoever drops them from trials, plan and suite leaves nothing that shows it, but a signature."

_OF_A_VERSION = (plan.looks, plan.attempts, reports)
"What another version decides or words otherwise: a difference from it contradicts nothing."

_DEPTH = {"observation": 2, "observation.usage": 3, "observation.machine": 3}
"By how many names a number is called that nothing computes again; by one where it is not here."


def verify(
    folder: Path,
    registry: Registry,
    level: Level = "evidence",
    most_bytes: int = LARGEST_SUMMARY,
    jobs: int = 1,
) -> Verified:
    """Compute a result again, and compare; a summary of more than `most_bytes` line by line.

    As many processes as `jobs` compute trials again.

    Raises Unusable where the suite or a part is missing. At `form` an unreadable file is a fault;
    else it raises Unusable, or InvalidFile for what cannot be.
    """
    if level == "form":
        return verified_form(folder)
    large = is_large(folder, most_bytes)
    lists = ListedFiles(folder)
    files = FolderFiles(folder, with_summary=not large, all_of=True)
    files.unread += lists.unread
    verified = _recomputed(Result(files, registry, large=large), level, jobs)
    for fault in contradictions(files):
        verified.add(fault)
    verified.extend(lists.changed)
    verified.extend(lists.incomplete)
    return verified


def _recomputed(result: Result, level: Level, jobs: int) -> Verified:
    """Compare what is computed again; values of trials are at the level `evidence` only."""
    recomputations = NUMBERS
    if level == "evidence":
        recomputations = (*EVIDENCE, *NUMBERS)
        _ = result.suite  # one that cannot be had is refused before anything is compared
    verified = Verified(len(result.trials), other=result.other)
    for part in _shared(recomputations, result, jobs):
        verified.extend(part)
    if level == "evidence":
        verified.as_written = _as_written(result, verified.covered)
    return verified


def _shared(
    recomputations: Sequence[Recomputation], result: Result, jobs: int
) -> Iterator[Verified]:
    """Yield what comes of each recomputation; of those that look at trials share by share.

    Each share but the first has a process. If one ends early, its share is compared and raises
    here.
    """
    divided, shares = [each for each in recomputations if each in OF_TRIALS], result.shares(jobs)
    alone = (partial(_compared, result=share) for share in shares[1:])
    others = [forked(partial(map, compare, divided)) for compare in alone]
    computed = cache(lambda number: [*others[number - 1]] if number else [])
    for recomputation in recomputations:
        if recomputation not in OF_TRIALS:
            yield _compared(recomputation, result)
            continue
        for number, share in enumerate(shares):
            each, index = computed(number), divided.index(recomputation)
            yield each[index] if index < len(each) else _compared(recomputation, share)


def _compared(recomputation: Recomputation, result: Result) -> Verified:
    verified, of_a_version = Verified(0), result.other and recomputation in _OF_A_VERSION
    last, document = None, None  # what is compared is written out once, one member of a file
    for again in recomputation(result):
        if isinstance(again, ComparedLines):
            _add_lines(again, verified, result)
        elif isinstance(again, FileFault) and of_a_version:
            message = f"{again.message}; benchforge {result.other} may have its own way"
            verified.cannot.append(replace(again, message=message))
        elif isinstance(again, FileFault) or again.cannot:
            verified.add(again)
        else:
            if (again.file.file, again.path[:1]) != last:
                last = again.file.file, again.path[:1]
                document = _document(again.file, *again.path[:1])
            compare_values(again, document, verified, is_ours=not result.other)
            verified.covered.setdefault(again.file.file, set()).add(again.path)
    return verified


def _as_written(result: Result, covered: Mapping[Path, Container[JsonPath]]) -> tuple[str, ...]:
    """Return what was not computed again: numbers of trials, and what the header states."""
    numbers = {
        _group(path)
        for trial in result.trials
        for path in _numbers(trial.model.model_dump(mode="json"), (), covered.get(trial.file, ()))
    }
    stated = {name for name in STATED if getattr(result.header.model, name)}
    return tuple(sorted({*numbers, *stated, LATER}))


def _add_lines(lines: ComparedLines, verified: Verified, result: Result) -> None:
    """Add what differs in a summary. Another version may write other lines: these prove nothing."""
    if not result.other or not lines.differing:
        verified.compared += lines.compared
        verified.differing.extend(lines.differing)
        return
    first, by = lines.differing[0], f"benchforge {result.other} may have written other lines"
    verified.cannot.append(replace(first, message=f"{first.message}; {by}"))


def _document(file: Parsed[Any], *member: str | int) -> object:
    return file.model.model_dump(mode="json", by_alias=True, include=set(member) or None)


def _numbers(value: JsonValue, path: JsonPath, covered: Container[JsonPath]) -> Iterator[JsonPath]:
    """Yield the paths of numbers that are neither covered nor below what is."""
    if path in covered:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*path, key), covered)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _numbers(inner, (*path, number), covered)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def _group(path: JsonPath) -> str:
    names = [str(step) for step in path if isinstance(step, str)]
    return ".".join(names[: _DEPTH.get(".".join(names[:2]), _DEPTH.get(names[0], 1))])
