"""Numbers as tools print them: a value with the step of its last digit, and where it was."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from benchforge.plugin import Fact, Row, Source

SECONDS: Mapping[str, float] = {
    "ns": 1e-9,
    "us": 1e-6,
    "\N{MICRO SIGN}s": 1e-6,
    "\N{GREEK SMALL LETTER MU}s": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "secs": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
BINARY: Mapping[str, float] = {
    name + end: 1024.0**power
    for power, names in enumerate((("",), ("K", "k", "Ki"), ("M", "Mi"), ("G", "Gi"), ("T", "Ti")))
    for name in names
    for end in ("B", "")
}
"Units of bytes of tools that count in steps of 1,024."
COUNTED = "in the number of requests"
"Estimator of failures that are among the requests, and not beside them."
MOST = 1e18
_NUMBER = re.compile(r"\s*([+-]?)(\d{1,18})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?\s*")
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(h|ms|m|s|\u00b5s|\u03bcs|us|ns)")
_LONGEST = 2000
_BEGINNINGS = (
    *(r"Running .{1,40} test @ ", "This is ApacheBench", r"Bombarding \S", r"Summary:\s*$"),
    *(r"starting benchmark\.", r"finished in \d", r"Requests +\[total, rate"),
)
"Lines with which outputs of tools begin: one ends that of another tool above it."
INDENT = r"(?:[\w.-]{1,60} +\|)?\W{0,40}?"
"Indents, quotes, comment signs and a container's name before each line of an output."
_MOST_LINES = 100_000
_Part = TypeVar("_Part")
_MOST_CUT = 10_000


def number(text: str, name: str, unit: str = "1", scale: float = 1.0, origin: str = "") -> Fact:
    """Return a printed number as a fact in its unit. Raises ValueError with the number's name."""
    match = _NUMBER.fullmatch(text)
    if not match:
        raise ValueError(f"{at(origin)}{name}: {text.strip()[:40]!r} is not a number")
    step = 10.0 ** (int(match[4] or 0) - len(match[3] or "")) * scale
    is_count = match[3] is None and not match[4] and unit == "1"
    return Fact(float(text) * scale, unit, 0.0 if is_count else step, origin=origin)


def quantity(text: str, name: str, units: Mapping[str, float], unit: str, origin: str = "") -> Fact:
    """Return a number with a unit, such as 1.23ms. Raises ValueError with the number's name."""
    match = re.fullmatch(r"\s*([-+.\deE]{1,40}?)\s*([^\d\s.+-]{0,6})\s*", text)
    if not match or match[2] not in units:
        stated = ", ".join(entry for entry in units if entry)
        printed = f"{at(origin)}{name}: {text.strip()[:40]!r}"
        raise ValueError(f"{printed} is not a number with a unit ({stated})")
    return number(match[1], name, unit, units[match[2]], origin)


def seconds(text: str, name: str, origin: str = "") -> Fact:
    """Return a printed time, also one of several parts such as 1m30.5s."""
    parts = _PART.findall(text)
    if len(parts) > 1 and "".join(value + unit for value, unit in parts) == text.strip():
        facts = [number(value, name, "s", SECONDS[unit], origin) for value, unit in parts]
        total = sum(float(fact.value) for fact in facts)
        return Fact(total, "s", facts[-1].resolution, "", origin)
    return quantity(text, name, SECONDS, "s", origin)


def given(
    value: object, name: str, unit: str = "1", scale: float = 1.0, step: float = 0.0
) -> Fact | None:
    """Return a number of JSON as a fact; None where it is missing.

    `step` is the resolution in the source's unit; without one, the number is taken as exact to 12
    digits. Raises ValueError for what is no finite number.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name}: {str(value)[:40]!r} is not a number")  # noqa: TRY004 - of foreign data
    if not math.isfinite(value) or abs(value) > MOST:
        raise ValueError(f"{name}: {str(value)[:40]} is not a finite number")
    resolution = step or (0.0 if isinstance(value, int) and unit == "1" else abs(value) * 1e-12)
    return Fact(float(value) * scale, unit, resolution * scale, origin=name)


def at(origin: str) -> str:
    """Return a place as the beginning of a message."""
    return f"{origin}: " if origin else ""


@dataclass(frozen=True)
class Block:
    """Lines that belong together, and the number of the first one in its source."""

    lines: Sequence[str]
    first: int = 1

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)

    def find(self, pattern: str) -> tuple[re.Match[str], str] | None:
        """Return the first match of a whole line, and where it is."""
        return next(self.all(pattern), None)

    def all(self, pattern: str) -> Iterator[tuple[re.Match[str], str]]:
        """Yield the match of each line that the pattern fits, and where it is."""
        compiled = re.compile(pattern)
        for number_, line in enumerate(self.lines, self.first):
            if len(line) < _LONGEST and (match := compiled.fullmatch(line.rstrip())):
                yield match, f"line {number_}"

    def whole(self, facts: dict[str, Fact], name: str, pattern: str) -> None:
        """Add the whole number that a line ends with."""
        if hit := self.find(pattern):
            facts[name] = number(hit[0][1].replace(",", ""), name, origin=hit[1])


def blocks(source: Source, begins: str) -> Iterator[Block]:
    """Yield the lines from each one that fits to before the next: a log may hold many results."""
    begin_line = re.compile(f"(?P<prefix>{INDENT})(?:{begins})")
    other_tool = re.compile(f"{INDENT}(?:{'|'.join(_BEGINNINGS)})")
    lines: list[str] = []
    first, prefix = 0, ""
    for number_, line in enumerate(source.lines(), 1):
        begin = begin_line.match(line)
        text = line.removeprefix(prefix) if line.strip() else ""
        if first and (begin or other_tool.match(text)):
            yield Block(lines, first)
            lines, first = [], 0
        if begin:
            first, prefix = number_, begin["prefix"]
            text = line.removeprefix(prefix)
        if first:
            lines.append(text)
            if len(lines) > _MOST_LINES:
                raise ValueError(f"line {number_}: more than {_MOST_LINES} lines of one result")
    if first:
        yield Block(lines, first)


def joined(source: Source, *begins: str) -> Iterator[Block]:
    """Yield each result whose parts begin with these lines, in this order; some may be missing."""
    result: Block | None = None
    reached = 0
    for part in blocks(source, "|".join(begins)):
        stage = next(index for index, begin in enumerate(begins) if re.match(begin, part.lines[0]))
        if result and stage > reached and result.first + len(result.lines) == part.first:
            result = Block([*result.lines, *part.lines], result.first)
        else:
            if result:
                yield result
            result = part
        reached = stage
    if result:
        yield result


def text_rows(
    source: Source, name: str, facts: Callable[[Block], dict[str, Fact]], *begins: str
) -> Iterator[Row]:
    """Yield a numbered row for each result of a text whose parts begin with these lines."""

    def row(block: Block, count: int) -> Row:
        return Row(f"{name} {count}", facts(block), f"line {block.first}")

    return part_rows(joined(source, *begins), row)


def part_rows(parts: Iterable[_Part], row: Callable[[_Part, int], Row]) -> Iterator[Row]:
    """Yield the row of each block or document. One that is cut is `unread`, and comes last.

    Raises ValueError where all are cut.
    """
    cut: list[Row] = []
    count = 0
    for count, part in enumerate(parts, 1):
        try:
            yield row(part, count)
        except ValueError as error:
            if len(cut) < _MOST_CUT:
                where = f"line {part.first}" if isinstance(part, Block) else f"document {count}"
                cut.append(unread(str(error), where))
    if cut and len(cut) == count:
        raise ValueError(cut[0].facts["unread"].value)
    yield from cut


def unread(reason: str, where: str, word: str = "unread") -> Row:
    """Return what stands for a result that cannot be read, or is `passed over`."""
    text = reason if reason.startswith(where) else f"{where}: {reason}"
    return Row(word, {word: Fact(text[:300])}, where)
