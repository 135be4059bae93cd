"""Whether the numbers of a result are those that its raw files give."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from benchforge.model.files.ceiling import Ceiling
from benchforge.model.files.file import FileFault, Model, Parsed, parse
from benchforge.model.files.folder import (
    HEADER,
    SUMMARY,
    accepted,
    ceiling_files,
    read_sessions,
    trial_files,
)
from benchforge.model.files.result import Header
from benchforge.model.summary.summary import Summary
from benchforge.model.trial.trial import Trial
from benchforge.model.values.distribution import own_version
from benchforge.model.values.places import JsonPath
from benchforge.registry import Registry
from benchforge.results.verify.plan import attempts, finds, looks, metrics, order, places, questions
from benchforge.results.verify.recomputed import Recomputation, RecomputedValue, Result
from benchforge.results.verify.same_document import alike, leaves, member, written
from benchforge.results.verify.summary import reports, summary
from benchforge.results.verify.trials import (
    answers,
    checks,
    failures,
    observations,
    readings,
    searches,
    there,
)
from benchforge.suite.kept.kept import kept_suite

RECOMPUTATIONS: tuple[Recomputation, ...] = (
    there,
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
    differing: list[FileFault] = field(default_factory=list)
    cannot: list[FileFault] = field(default_factory=list)
    "Values that could not be computed again, each with its reason."
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
    verified = Verified(
        len(result.trials), other="" if result.ours else result.header.model.benchforge
    )
    covered: dict[Path, list[JsonPath]] = {}
    last, document = None, None
    for recomputation in recomputations:
        for again in recomputation(result):
            if isinstance(again, FileFault):
                verified.differing.append(again)
            elif again.cannot:
                message = f"cannot be recomputed: {again.cannot}"
                verified.cannot.append(again.file.fault(message, *again.path))
            else:
                if again.file is not last:
                    last, document = again.file, _document(again.file)
                compare_values(again, document, verified, ours=result.ours)
                covered.setdefault(again.file.file, []).append(again.path)
    alone = {
        _group(path)
        for trial in result.trials
        for path in _numbers(trial.model.model_dump(mode="json"), ())
        if not any(path[: len(prefix)] == prefix for prefix in covered.get(trial.file, ()))
    }
    verified.as_written = tuple(sorted(alone))
    return verified


def _read(folder: Path, registry: Registry) -> Result:
    header = _parsed(folder, HEADER, Header)
    trials = [_parsed(folder, name, Trial) for name in trial_files(folder)]
    has_summary = (folder / SUMMARY).exists()
    return Result(
        header=header,
        trials=tuple(sorted(trials, key=lambda trial: trial.model.number)),
        ceilings=tuple(_parsed(folder, name, Ceiling) for name in ceiling_files(folder)),
        sessions=read_sessions(folder),
        summary=_parsed(folder, SUMMARY, Summary) if has_summary else None,
        suite=kept_suite(header.model, f"the suite in {folder / HEADER}", registry),
        registry=registry,
        ours=header.model.benchforge == own_version(),
    )


def _parsed(folder: Path, name: str, model: type[Model]) -> Parsed[Model]:
    return accepted(parse(folder, name, model))


def _document(file: Parsed[Any]) -> object:
    return file.model.model_dump(mode="json", by_alias=True)


def compare_values(
    again: RecomputedValue, document: object, verified: Verified, *, ours: bool
) -> None:
    """Add to `verified` what of a file's document differs from a value computed again."""
    stored = member(document, *again.path)
    for path, then, now in leaves(stored, again.value, again.path):
        verified.compared += 1
        if alike(then, now):
            continue
        if not ours and not again.file.places.has(path):
            verified.older += 1
            continue
        message = f"{written(then)}, but recomputed it is {written(now)}"
        verified.differing.append(again.file.fault(message, *path))


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
