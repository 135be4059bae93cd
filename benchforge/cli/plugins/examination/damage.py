"""A tool's output, damaged in the ways that outputs are: pure, bounded, the same each time."""

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

PLACES = 60
"How many lines, and how many numbers, of one file are tried; spread evenly over a longer one."

WITHOUT = "without"
NONSENSE: dict[str, bytes] = {"nonsense": b"?", "negative": b"-23", "huge": b"9" * 40}
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")


def damages(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield each damaged content with what was done to it, in words."""
    if not content:
        return
    yield "emptied", b""
    for quarter in (1, 2, 3):
        yield f"cut after {quarter}/4", content[: len(content) * quarter // 4]
    yield "made binary", bytes(255 - one for one in content[:1000]) + content[1000:]
    lines = content.splitlines(keepends=True)
    for number in spread(range(len(lines))):
        shown = lines[number].decode(errors="replace").strip()[:50]
        yield (
            f"{WITHOUT} line {number + 1}, {shown!r}",
            b"".join(lines[:number] + lines[number + 1 :]),
        )
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
