"""Records of a table by the titles of their columns: CSV, Markdown, JSON or flat YAML."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchforge.plugin import Source
from benchforge_readers.document import json_of

_MOST_COLUMNS = 1000
Cells = Mapping[str, str] | ValueError | LookupError
"Cells of a row by their titles, or why it has none; a LookupError is that of another table."
_RULE = re.compile(r"^\s*\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?\s*)?\|?\s*$", re.MULTILINE)
_PAIR = re.compile(r"(?:---\s*)?([\w.-]{1,80}):(?: +(.*)|\s*)$", re.MULTILINE)
_MARKS = "*_`~ "
_DEEPEST = 100
_Names = tuple[Sequence[str], str]
"Titles of which a record has one, and that of its name."


def records_of(source: Source, titles: Sequence[str], name: str) -> Iterator[tuple[str, Cells]]:
    """Yield the place and the cells of each record, or why it has none.

    A record of JSON is a table with one of the titles: `latency.p99` is a field of a field. It has
    the cells of the tables that it is in, its `name`, and `key`, its name in the one above it.
    Raises ValueError where the source is no table.
    """
    first = source.head.lstrip()[:1]
    if first not in {"{", "["}:
        if not (ruled := _RULE.search(source.head)) and _PAIR.match(source.head.lstrip()):
            return iter([("document", _pairs(source))])
        return _of_markdown(source, titles) if ruled else rows_of(source)
    if re.match(r"\s*\{.*\}\s*\n\s*\{", source.head):
        return _of_lines(source, (titles, name))
    return _of_json(json_of(source), (titles, name), {}, "document")


def _pairs(source: Source) -> dict[str, str]:
    """Return the fields of YAML that are beside their names; those below them are unknown."""
    pairs = (_PAIR.fullmatch(line) for line in source.lines())
    return {pair[1]: (pair[2] or "").strip(" \"'") for pair in pairs if pair}


def _of_lines(source: Source, names: _Names) -> Iterator[tuple[str, Cells]]:
    for number, line in enumerate(source.lines(), 1):
        try:
            record = json.loads(line or "null")
            yield from _of_json(record, names, {}, f"line {number}")
        except ValueError as error:
            yield f"line {number}", error
        except RecursionError:
            yield f"line {number}", ValueError("nested too deeply")


def _of_json(
    node: Any, names: _Names, outer: Mapping[str, str], where: str
) -> Iterator[tuple[str, Cells]]:
    if where.count(".") > _DEEPEST:
        raise ValueError(f"{where[:80]}: nested too deeply")
    cells: dict[str, str] = {}
    inner: Iterable[tuple[object, Any]] = enumerate(node) if isinstance(node, list) else ()
    if isinstance(node, Mapping):
        texts = {title: _text(node, title) for title in (*names[0], names[1])}
        cells = {title: text for title, text in texts.items() if text is not None}
        inner = node.items()
    is_record = any(title in cells for title in names[0])
    for key, child in inner:
        if isinstance(child, Mapping | list):
            named = {**outer, **cells, "key": str(key)}
            for record in _of_json(child, names, named, f"{where}.{key}"):
                yield record
                is_record = False
    if is_record:
        yield where, {**outer, **cells}


def _text(node: Mapping[str, Any], title: str) -> str | None:
    """Return the text of a field, or of a field of a field, if it is no table."""
    if title in node:
        value = node[title]
        return str(value) if isinstance(value, str | int | float) else None
    first, _, rest = title.partition(".")
    inner = node.get(first)
    return _text(inner, rest) if rest and isinstance(inner, Mapping) else None


def _of_markdown(source: Source, titles: Sequence[str]) -> Iterator[tuple[str, Cells]]:
    heads: list[str] = []
    for number, line in enumerate(source.lines(), 1):
        if "|" not in line:
            heads = []
            continue
        cells = [cell.strip(_MARKS) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if not heads:
            heads = cells
            if not set(titles) & set(heads):
                yield f"line {number}", LookupError(f"a table without {' or '.join(titles)}")
        elif not _RULE.match(line) and set(titles) & set(heads):
            where = f"line {number}"
            if len(cells) == len(heads):
                yield where, dict(zip(heads, cells, strict=True))
            else:
                yield where, ValueError(f"{len(cells)} cells below {len(heads)} titles")


def rows_of(source: Source) -> Iterator[tuple[str, Cells]]:
    """Yield the place and the cells of each row. Raises ValueError for what is no table."""
    delimiter = max((",", ";", "\t"), key=source.head.partition("\n")[0].count)
    reader = csv.reader(source.lines(), delimiter=delimiter)
    try:
        titles = [title.strip() for title in next(reader, [])]
        if not 1 < len(titles) <= _MOST_COLUMNS or len(set(titles)) < len(titles):
            raise ValueError("line 1: the titles of its columns are missing or not unique")
        for cells in reader:
            where = f"line {reader.line_num}"
            if cells and len(cells) != len(titles):
                yield where, ValueError(f"{len(cells)} cells below {len(titles)} titles")
            elif cells:
                yield where, dict(zip(titles, cells, strict=True))
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from None
