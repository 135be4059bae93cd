"""Paths with places for values: `/products/4711` and `/products/12` are of one pattern."""

import re
from collections import Counter
from collections.abc import Container, Mapping

HOLE = "{}"
"Segment of a pattern where a value stands, with a slash behind it if the path ends with one."
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,30}(?:\.[a-z0-9]{1,5})?|[a-z]{1,5}[0-9]{1,2}")
_MANY = 20  # different words in one place are values
_OFTEN = 0.02  # of all requests: a word that is as frequent is none of them

Pattern = tuple[str, ...]


class Patterns:
    """The patterns of the paths that were counted."""

    def __init__(self, paths: Mapping[Pattern, int], shared: Container[str]) -> None:
        """Learn which segments are words, from the segments of each path and their number.

        A word is `shared`: others may be the secret of a client.
        """
        self._often = _OFTEN * sum(paths.values())
        self._shared = shared
        self._words: dict[Pattern, Mapping[str, int]] = {}
        self._learn((), paths)

    def of(self, path: str) -> tuple[Pattern, tuple[str, ...]]:
        """Return the pattern of a path, and the values that stand in its places."""
        pattern: Pattern = ()
        values: list[str] = []
        for segment in segments(path):
            if segment in self._words.get(pattern, {}):
                pattern += (segment,)
            else:
                pattern += (_hole(segment),)
                values.append(segment.removesuffix("/"))
        return pattern, tuple(values)

    def _learn(self, at: Pattern, paths: Mapping[Pattern, int]) -> None:
        """Learn the words behind a pattern, from the rests of the paths that begin with it."""
        counts: Counter[str] = Counter()
        for rest, number in paths.items():
            if rest and is_word(rest[0]) and rest[0] in self._shared:
                counts[rest[0]] += number
        few = len(counts) <= _MANY
        words = {one: number for one, number in counts.items() if few or number >= self._often}
        self._words[at] = words
        behind: dict[str, dict[Pattern, int]] = {}
        for rest, number in paths.items():
            if rest:
                there = behind.setdefault(rest[0] if rest[0] in words else _hole(rest[0]), {})
                there[rest[1:]] = there.get(rest[1:], 0) + number
        for segment, rests in behind.items():
            self._learn((*at, segment), rests)


def _hole(segment: str) -> str:
    return f"{HOLE}/" if segment.endswith("/") else HOLE


def segments(path: str) -> Pattern:
    """Return the segments of a path; a slash at its end belongs to the last."""
    parts = path.removeprefix("/").split("/")
    return (*parts[:-2], f"{parts[-2]}/") if len(parts) > 1 and not parts[-1] else tuple(parts)


def is_word(segment: str) -> bool:
    """Whether a segment looks like a part of an address rather than a value."""
    return not segment or _WORD.fullmatch(segment.removesuffix("/")) is not None
