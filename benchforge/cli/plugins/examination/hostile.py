"""Damaged outputs: a driver refuses each, or reads what it reads of the undamaged one."""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import JsonValue

from benchforge.cli.plugins.examination.inputs import FACTS, Recording
from benchforge.errors import BenchforgeError
from benchforge.model.trial.reading import Reading
from benchforge.parts.fault import in_a_line
from benchforge.parts.part import Driver, Part
from benchforge.run.disk.scratch import scratch_folder
from benchforge.suite.toml.models import typed
from benchforge.text.readable import cut, listed


@dataclass(frozen=True)
class PartFinding:
    """A defect makes wrong numbers or ends a run; a warning may be meant so."""

    level: Literal["defect", "warning"]
    text: str

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


defect, warning = partial(PartFinding, "defect"), partial(PartFinding, "warning")


@dataclass(frozen=True)
class Read:
    """The lines that show the numbers or the rows of a recording, or why it has none."""

    name: str
    lines: tuple[str, ...]
    refused: str = ""
    damages: int = 0
    refusals: int = 0
    reading: Reading | None = None
    "The numbers of a load tool's recording, which tests of plugins compare."


_SHOWN = 5
T = TypeVar("T")
P = TypeVar("P", bound=Part)
PLACES = 60
"Lines, and numbers, of a file that are tried: spread evenly over a longer one."
WITHOUT = "without"
NONSENSE: dict[str, bytes] = {"nonsense": b"?", "negative": b"-23", "huge": b"9" * 40}
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
# Tried one after another, after values near the present one; the first valid one counts.
_ANY: tuple[Any, ...] = (
    *(2, 1, 3, 100, 0.5, 2.5, True, False, "text", "2s", "1MiB", "100/s"),
    *("module:name", "http://127.0.0.1:8081"),
    *(["text"], ["--text"], [2], {"NAME": "text"}, {"name": 2}),
)


def reading_of(part: Driver, recording: Recording) -> Reading:
    """Return the reading of a recording as it is. Raises what the part raises."""
    with _place() as folder:
        return recording.read(part, folder)


def tried(
    part: Driver, recording: Recording, undamaged: Reading | None
) -> tuple[list[PartFinding], int, int]:
    """Read each damage of each file; return the findings, and the numbers of damages and refusals.

    `undamaged` is None where the part refuses the undamaged recording.
    """
    findings: list[PartFinding] = []
    count = refused = 0
    with _place() as folder:
        for file, damage, damaged in _damaged_recordings(recording):
            count += 1
            position = f"{recording.name}: {file} {damage}"
            try:
                reading = damaged.read(part, folder)
            except BenchforgeError:
                refused += 1
                continue
            except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody else's code
                findings.append(defect(f"{position}: crashes: {in_a_line(error)}"))
                continue
            if undamaged is not None and numbers(reading) != numbers(undamaged):
                # Many tools leave a line out where they have nothing to tell by it.
                level = warning if damage.startswith(WITHOUT) else defect
                differences = difference(undamaged, reading)
                findings.append(level(f"{position}: accepts a damaged output: {differences}"))
    return findings, count, refused


def numbers(reading: Reading) -> Reading:
    """Return a reading without the tool's own words: those are kept as they were printed."""
    return reading.model_copy(update={"printed": {}, "server_software": None})


def difference(undamaged: Reading, other: Reading) -> str:
    """Return the fields in which two readings differ, for a person."""
    fields, damaged = (numbers(item).model_dump(mode="json") for item in (undamaged, other))
    changes = [
        f"{name} {cut(str(value), 40)} -> {cut(str(damaged[name]), 40)}"
        for name, value in fields.items()
        if value != damaged[name]
    ]
    return listed(changes, _SHOWN)


def _damaged_recordings(recording: Recording) -> Iterator[tuple[str, str, Recording]]:
    for file, content in recording.files.items():
        if file == FACTS:
            continue
        for damage, changed in damages(content):
            files = {**recording.files, file: changed}
            yield file, damage, replace(recording, files=files)


@contextlib.contextmanager
def _place() -> Iterator[Path]:
    """Give an empty folder, for the files of a recording only."""
    with scratch_folder() as scratch:
        (folder := scratch / "0").mkdir()
        yield folder


def damages(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each damaged content with its damage in words."""
    if not content:
        return
    yield "emptied", b""
    for quarter in (1, 2, 3):
        yield f"cut after {quarter}/4", content[: len(content) * quarter // 4]
    yield "made binary", bytes(255 - byte for byte in content[:1000]) + content[1000:]
    lines = content.splitlines(keepends=True)
    for number in spread(range(len(lines))):
        excerpt = lines[number].decode(errors="replace").strip()[:50]
        others = b"".join(lines[:number] + lines[number + 1 :])
        yield f"{WITHOUT} line {number + 1}, {excerpt!r}", others
    for match in spread(list(_NUMBER.finditer(content))):
        line = content.count(b"\n", 0, match.start()) + 1
        for kind, other in NONSENSE.items():
            yield (
                f"with a {kind} number for {match[0].decode()} in line {line}",
                content[: match.start()] + other + content[match.end() :],
            )


def spread(things: Sequence[T]) -> list[T]:
    """Return at most PLACES of the things, evenly spread, the first and the last among them."""
    if len(things) <= PLACES:
        return list(things)
    return [things[number * (len(things) - 1) // (PLACES - 1)] for number in range(PLACES)]


def deaf(
    part: P, options: dict[str, JsonValue], behaviour: Callable[[P], object], more: str = ""
) -> Iterator[PartFinding]:
    """Yield a warning of each option that changes nothing, and of each without another value.

    An option may need another one to matter: each pair is tried before it is called deaf.
    `behaviour` returns something comparable, and raises nothing. `more` says where it changes it.
    """
    names = [name for name in _fields(type(part)) if name not in _OURS]
    of_part = behaviour(part)
    for name in names:
        tried = heard = False
        for base in _bases(part, options, names, name):
            other = _other(type(part), base, name)
            if other is None:
                continue
            tried = True
            of_default = of_part if base == options else behaviour(typed(type(part), base))
            if heard := behaviour(other) != of_default:
                break
        if not tried:
            yield warning(f"option {name!r}: no other valid value was found: it was not tried")
        elif not heard:
            yield warning(f"option {name!r} changes nothing{more}")


_OURS = ("runtime", "ready_within")
"Fields of parts that benchforge itself reads."


def _fields(cls: type[Part]) -> dict[str, str]:
    """Return the field of each option, by the option's name."""
    return {str(field.alias or name): name for name, field in cls.model_fields.items()}


def _bases(
    part: Part, options: dict[str, JsonValue], names: list[str], name: str
) -> Iterator[dict[str, JsonValue]]:
    yield options
    for other in names:
        if other != name:
            for value in _values(part, options, other):
                base = {**options, other: value}
                if _taken(type(part), base) is not None:
                    yield base


def _other(cls: type[P], options: dict[str, JsonValue], name: str) -> P | None:
    taken = _taken(cls, options)
    if taken is None:
        return None
    field = _fields(cls)[name]
    for value in _values(taken, options, name):
        later = _taken(cls, {**options, name: value})
        if later is not None and getattr(later, field) != getattr(taken, field):
            return later
    return None


def _values(part: Part, options: dict[str, JsonValue], name: str) -> Iterator[Any]:
    field = _fields(type(part))[name]
    annotation = type(part).model_fields[field].annotation
    yield from _near(options.get(name, getattr(part, field)), annotation)
    yield from _ANY


def _near(value: Any, annotation: Any) -> Iterator[JsonValue]:
    for literal in _literals(annotation):
        if literal != value:
            yield literal
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        for other in (value + 1, value * 2, value - 1):
            yield int(other) if float(other).is_integer() else float(other)
    elif isinstance(value, str):
        yield from (f"{value}x", f"x{value}", f"/{value}")
    elif isinstance(value, list):
        yield from ([*value, "text"], value[:-1])


def _literals(annotation: Any) -> Iterator[JsonValue]:
    for argument in getattr(annotation, "__args__", ()):
        if isinstance(argument, str | int):
            yield argument
        else:
            for inner in _literals(argument):
                yield inner
                yield [inner]


def _taken(cls: type[P], options: dict[str, JsonValue]) -> P | None:
    try:
        return typed(cls, options)
    except (ValueError, TypeError):  # one of pydantic is a ValueError
        return None
