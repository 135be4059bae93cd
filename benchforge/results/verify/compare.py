"""Whether the numbers of a result are those that its raw files give."""

import importlib.metadata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from benchforge.model.ceiling import Ceiling
from benchforge.model.file import Fault, Model, Parsed, parse
from benchforge.model.folder import (
    HEADER,
    SUMMARY,
    ceiling_files,
    read_sittings,
    refusal,
    trial_files,
)
from benchforge.model.places import JsonPath
from benchforge.model.result import Header
from benchforge.model.summary import Summary
from benchforge.model.trial import Trial
from benchforge.registry import Registry
from benchforge.run.verify.again import Again, Recomputation, Result
from benchforge.run.verify.alike import alike, leaves, member, written
from benchforge.run.verify.plan import asked, finds, looks, metrics, order, places
from benchforge.run.verify.summary import reports, summary
from benchforge.run.verify.trials import (
    answers,
    checks,
    failures,
    observations,
    readings,
    searches,
    there,
)
from benchforge.suite.kept import kept_suite

RECOMPUTATIONS: tuple[Recomputation, ...] = (
    there,
    order,
    places,
    looks,
    metrics,
    finds,
    asked,
    answers,
    readings,
    observations,
    checks,
    failures,
    searches,
    summary,
    reports,
)
"In this order: what differs first is the cause of what differs later."

_DEPTH = {"observation": 2, "observation.usage": 3, "observation.machine": 3}
"By how many names a number is called that nothing computes again; by one where it is not here."


@dataclass
class Verified:
    """What came of computing a result again."""

    trials: int
    compared: int = 0
    "Values that were computed again."
    differing: list[Fault] = field(default_factory=list)
    cannot: list[Fault] = field(default_factory=list)
    "What could not be computed again, and why."
    older: int = 0
    "Values that an older benchforge did not write: there is nothing to compare."
    other: str = ""
    "The version of benchforge that wrote it, where that was not this one."
    as_written: tuple[str, ...] = ()
    "Numbers of trials that nothing else tells: by their paths, without places in lists."


def verify(
    folder: Path, registry: Registry, recomputations: tuple[Recomputation, ...] = RECOMPUTATIONS
) -> Verified:
    """Compute a result again, and compare.

    Raises Unusable where a file, the suite in the header or a part of it cannot be had, and
    InvalidFile where a file says what cannot be.
    """
    result = _read(folder, registry)
    found = Verified(
        len(result.trials), other="" if result.ours else result.header.model.benchforge
    )
    covered: dict[Path, list[JsonPath]] = {}
    last, document = None, None
    for recomputation in recomputations:
        for again in recomputation(result):
            if isinstance(again, Fault):
                found.differing.append(again)
            elif again.cannot:
                message = f"cannot be computed again: {again.cannot}"
                found.cannot.append(again.file.fault(message, *again.path))
            else:
                if again.file is not last:
                    last, document = again.file, _document(again.file)
                _compare(again, document, found, ours=result.ours)
                covered.setdefault(again.file.file, []).append(again.path)
    alone = {
        _group(path)
        for trial in result.trials
        for path in _numbers(trial.model.model_dump(mode="json"), ())
        if not any(path[: len(one)] == one for one in covered.get(trial.file, ()))
    }
    found.as_written = tuple(sorted(alone))
    return found


def _read(folder: Path, registry: Registry) -> Result:
    header = _parsed(folder / HEADER, Header)
    trials = [_parsed(file, Trial) for file in trial_files(folder)]
    there = folder / SUMMARY
    return Result(
        header=header,
        trials=tuple(sorted(trials, key=lambda trial: trial.model.number)),
        ceilings=tuple(_parsed(file, Ceiling) for file in ceiling_files(folder)),
        sittings=read_sittings(folder),
        summary=_parsed(there, Summary) if there.exists() else None,
        suite=kept_suite(header.model, f"the suite in {folder / HEADER}", registry),
        registry=registry,
        ours=header.model.benchforge == importlib.metadata.version("benchforge"),
    )


def _parsed(file: Path, model: type[Model]) -> Parsed[Model]:
    found = parse(file, model)
    if isinstance(found, Parsed):
        return found
    raise refusal(found[0])


def _document(file: Parsed[Any]) -> object:
    return file.model.model_dump(mode="json", by_alias=True)


def _compare(again: Again, document: object, found: Verified, *, ours: bool) -> None:
    stored = member(document, *again.path)
    for path, then, now in leaves(stored, again.value, again.path):
        found.compared += 1
        if alike(then, now):
            continue
        if not ours and path not in again.file.places.lines:
            found.older += 1
            continue
        message = f"{written(then)}, but computed again it is {written(now)}"
        found.differing.append(again.file.fault(message, *path))


def _numbers(value: JsonValue, path: JsonPath) -> Iterator[JsonPath]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _numbers(inner, (*path, number))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def _group(path: JsonPath) -> str:
    """Return what a number is called by: the outermost names of its path."""
    names = [str(step) for step in path if isinstance(step, str)]
    return ".".join(names[: _DEPTH.get(".".join(names[:2]), _DEPTH.get(names[0], 1))])
