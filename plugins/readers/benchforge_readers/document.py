"""JSON of other tools: fields by their path, and what a beginning of JSON tells."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from benchforge.plugin import Fact, Row, Source, bounded
from benchforge_readers.printed import given, part_rows

MOST_ROWS = 200_000
_NO_GAP = re.compile(r"\S")
_MOST_TIMES = 1_000_000


def json_of(source: Source) -> Any:
    """Return the only document of JSON. Raises ValueError where it is not the only one."""
    first, *others = documents_of(source)
    if others or isinstance(first, ValueError):
        raise first if isinstance(first, ValueError) else ValueError("several documents of JSON")
    return first


def documents_of(source: Source) -> Iterator[Any]:
    """Yield each document of JSON, or the ValueError of one that is cut. JSON lines have several.

    Raises ValueError for a huge file.
    """
    text = bounded(source.text())
    decoder, end = json.JSONDecoder(parse_constant=_none), _after_gap(text, 0)
    while True:
        try:
            document, end = decoder.raw_decode(text, end)
        except json.JSONDecodeError as error:
            following = text.find("\n{", end + 1)
            document, end = error, following if following > 0 else len(text)
        except RecursionError:
            raise ValueError("its JSON is nested too deeply") from None
        yield document
        if (end := _after_gap(text, end)) == len(text):
            return


def _after_gap(text: str, start: int) -> int:
    return len(text) if (hit := _NO_GAP.search(text, start)) is None else hit.start()


def json_rows(source: Source, row: Callable[[Any, str], Row]) -> Iterator[Row]:
    """Yield the row of each document of JSON, made of it and its place."""

    def made(document: Any, count: int) -> Row:
        if isinstance(document, ValueError):
            raise document
        return row(document, f"document {count}" if count > 1 else "document")

    return part_rows(documents_of(source), made)


def _none(name: str) -> None:
    """Take NaN and Infinity, which some tools write, for unknown."""


def field(document: object, *path: str) -> Any:
    """Return a field, None where it or a table above it is missing."""
    for step in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(step)
    return document


def table(document: object, *path: str) -> dict[str, Any]:
    """Return a table; an empty one where it is missing. Raises ValueError for anything else."""
    content = field(document, *path)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ValueError(f"{'.'.join(path) or 'document'}: {type(content).__name__}, not a table")  # noqa: TRY004 - of foreign data
    return content


def items(document: object, *path: str) -> list[Any]:
    """Return a list; an empty one where it is missing. Raises ValueError for anything else."""
    content = field(document, *path)
    if content is None:
        return []
    if not isinstance(content, list):
        raise ValueError(f"{'.'.join(path) or 'document'}: {type(content).__name__}, not a list")  # noqa: TRY004 - of foreign data
    if len(content) > MOST_ROWS:
        raise ValueError(f"{'.'.join(path) or 'document'}: more than {MOST_ROWS} entries")
    return content


def take(
    facts: dict[str, Fact],
    name: str,
    document: object,
    *path: str,
    unit: str = "1",
    scale: float = 1.0,
    step: float = 0.0,
) -> None:
    """Add a field as a fact where it is there. Raises ValueError for what is no number."""
    fact = given(field(document, *path), ".".join(path), unit, scale, step)
    if fact is not None:
        facts[name] = fact


def take_times(
    facts: dict[str, Fact],
    document: object,
    path: Sequence[str],
    fields: Mapping[str, str],
    scale: float = 1.0,
    step: float = 0.0,
) -> None:
    """Add times of one table, by the names of their facts, where they are there."""
    for name, title in fields.items():
        take(facts, name, document, *path, title, unit="s", scale=scale, step=step)


def counts(document: object, *path: str) -> Iterator[tuple[str, int]]:
    """Yield the entries of a table of counts. Raises ValueError for what is no count."""
    for name, value in table(document, *path).items():
        count = given(value, ".".join((*path, name[:40])))
        if count is None or float(count.value) < 0 or not float(count.value).is_integer():
            raise ValueError(f"{'.'.join(path)}.{name[:40]}: {str(value)[:40]!r} is not a count")
        yield name, int(count.value)


def statuses(facts: dict[str, Fact], hit: Iterator[tuple[str, int]], origin: str) -> int:
    """Add the responses of each class of status, and return their number."""
    total = 0
    classes: dict[str, int] = {}
    for status, count in hit:
        total += count
        if re.fullmatch(r"[1-5]\d\d", status):
            classes[f"{status[0]}xx"] = classes.get(f"{status[0]}xx", 0) + count
    for name, count in classes.items():
        facts[name] = Fact(float(count), origin=origin)
    bad = classes.get("4xx", 0) + classes.get("5xx", 0)
    facts["failed"] = Fact(float(bad), origin=origin)
    return total


def is_json(source: Source) -> bool:
    """Return True if a source is a table of JSON, and no text."""
    return source.head.lstrip().startswith("{")


def has(head: str, *names: str) -> bool:
    """Return True if JSON begins so and has each of the names."""
    return head.lstrip()[:1] in {"{", "["} and all(f'"{name}"' in head for name in names)


def word(value: object, otherwise: str) -> str:
    """Return a text of JSON as a name, cut to 80 characters."""
    return str(value)[:80] if isinstance(value, str | int | float) and str(value) else otherwise


def times_of(values: Sequence[object], name: str) -> tuple[float, ...]:
    """Return a list of times in seconds. Raises ValueError for what is no time."""
    if len(values) > _MOST_TIMES:
        raise ValueError(f"{name}: more than {_MOST_TIMES} times")
    times = []
    for index, value in enumerate(values):
        fact = given(value, f"{name}.{index}", "s")
        if fact is None or float(fact.value) < 0:
            raise ValueError(f"{name}.{index}: {value!r} is not a time")
        times.append(float(fact.value))
    return tuple(times)
