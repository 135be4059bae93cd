"""Whether the numbers of a result are those that its raw files give."""

import os
from collections.abc import Container, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.file import MOST_BYTES, FileFault, Model, Parsed, parse
from benchforge.model.files.folder import (
    HEADER,
    MANIFEST,
    SUMMARY,
    accepted,
    ceiling_files,
    parse_trials,
    read_sessions,
)
from benchforge.model.files.manifest import Manifest
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.values.distribution import own_version
from benchforge.model.values.places import JsonPath
from benchforge.parts.registry import Registry
from benchforge.results.recomputed.large_summary import ComparedLines, is_large
from benchforge.results.recomputed.verified import Verified, compare_values
from benchforge.results.verify.recompute import turns
from benchforge.results.verify.recompute.cases import cases
from benchforge.results.verify.recompute.files import files
from benchforge.results.verify.recompute.kept_suite import kept_suite
from benchforge.results.verify.recompute.monitors import monitors
from benchforge.results.verify.recompute.plan import (
    attempts,
    finds,
    looks,
    metrics,
    order,
    places,
    questions,
)
from benchforge.results.verify.recompute.recomputed import Recomputation, Result
from benchforge.results.verify.recompute.streams import streams
from benchforge.results.verify.recompute.summary import reports, summary
from benchforge.results.verify.recompute.trials import (
    answers,
    checks,
    failures,
    observations,
    readings,
    searches,
    there,
)

RECOMPUTATIONS: tuple[Recomputation, ...] = (
    there,
    cases,
    order,
    places,
    looks,
    attempts,
    metrics,
    finds,
    questions,
    answers,
    readings,
    observations,
    monitors,
    checks,
    failures,
    searches,
    streams,
    turns.planned,
    turns.slices,
    summary,
    reports,
    files,
)
"In this order: what differs first is the cause of what differs later."

_OF_A_VERSION = (looks, attempts, reports)
"What another version decides or words otherwise: a difference from it contradicts nothing."

_DEPTH = {"observation": 2, "observation.usage": 3, "observation.machine": 3}
"By how many names a number is called that nothing computes again; by one where it is not here."


def verify(
    folder: Path,
    registry: Registry,
    recomputations: tuple[Recomputation, ...] = RECOMPUTATIONS,
    most_bytes: int = MOST_BYTES,
) -> Verified:
    """Compute a result again, and compare; a summary of more than `most_bytes` line by line.

    Raises Unusable where a file, the suite in the header or a part of it cannot be had, and
    InvalidFile where a file says what cannot be.
    """
    result = _read(folder, registry, most_bytes)
    verified = Verified(
        len(result.trials), other="" if result.ours else result.header.model.benchforge
    )
    covered: dict[Path, set[JsonPath]] = {}
    last, document = None, None  # what is compared is written out once, one member of a file
    for recomputation in recomputations:
        of_a_version = recomputation in _OF_A_VERSION and not result.ours
        for again in recomputation(result):
            if isinstance(again, ComparedLines):
                _add_lines(again, verified, result)
            elif isinstance(again, FileFault) and of_a_version:
                by = f"benchforge {verified.other} may have its own way"
                verified.cannot.append(replace(again, message=f"{again.message}; {by}"))
            elif isinstance(again, FileFault):
                verified.differing.append(again)
            elif again.cannot:
                verified.cannot.append(again.file.fault(again.cannot, *again.path))
            else:
                if (again.file.file, again.path[:1]) != last:
                    last = again.file.file, again.path[:1]
                    document = _document(again.file, *again.path[:1])
                compare_values(again, document, verified, ours=result.ours)
                covered.setdefault(again.file.file, set()).add(again.path)
    alone = {
        _group(path)
        for trial in result.trials
        for path in _numbers(trial.model.model_dump(mode="json"), (), covered.get(trial.file, ()))
    }
    verified.as_written = tuple(sorted(alone))
    return verified


def _add_lines(lines: ComparedLines, verified: Verified, result: Result) -> None:
    """Add what differs in a summary. Another version may write other lines: these prove nothing."""
    if result.ours or not lines.differing:
        verified.compared += lines.compared
        verified.differing.extend(lines.differing)
        return
    first, by = lines.differing[0], f"benchforge {verified.other} may have written other lines"
    verified.cannot.append(replace(first, message=f"{first.message}; {by}"))


def _read(folder: Path, registry: Registry, most_bytes: int) -> Result:
    header = _parsed(folder, HEADER, Header)
    trials = [accepted(parsed).packed() for parsed in parse_trials(folder)]
    large = is_large(folder, most_bytes)
    has_summary, has_manifest = (os.path.lexists(folder / name) for name in (SUMMARY, MANIFEST))
    return Result(
        header=header,
        trials=tuple(sorted(trials, key=lambda trial: trial.model.number)),
        ceilings=tuple(_parsed(folder, name, Ceiling) for name in ceiling_files(folder)),
        sessions=read_sessions(folder),
        summary=_parsed(folder, SUMMARY, Summary) if has_summary and not large else None,
        manifest=_parsed(folder, MANIFEST, Manifest) if has_manifest else None,
        suite=kept_suite(header.model, f"the suite in {folder / HEADER}", registry),
        registry=registry,
        ours=header.model.benchforge == own_version(),
        large=large,
    )


def _parsed(folder: Path, name: str, model: type[Model]) -> Parsed[Model]:
    return accepted(parse(folder, name, model))


def _document(file: Parsed[Any], *member: str | int) -> object:
    """Return a file's document, or as much of it as one member needs."""
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
    """Return what a number is called by: the outermost names of its path."""
    names = [str(step) for step in path if isinstance(step, str)]
    return ".".join(names[: _DEPTH.get(".".join(names[:2]), _DEPTH.get(names[0], 1))])
