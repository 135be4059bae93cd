"""Paths with places for values: `/products/4711` and `/products/12` are of one pattern."""

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence

HOLE = "{}"
"Segment of a pattern where a value stands, with a slash behind it if the path ends with one."
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,30}(?:\.[a-z0-9]{1,5})?|[a-z]{1,5}[0-9]{1,2}")
_MANY = 20  # different words in one place are values
_OFTEN = 0.02  # of all requests: a word that is as frequent is none of them

Pattern = tuple[str, ...]


class Patterns:
    """The patterns of the paths that were counted."""

    def __init__(self, paths: Sequence[tuple[Pattern, int]], shared: Container[str]) -> None:
        """Learn which segments are words, from the segments of each path and their number.

        A word is `shared`: others may be the secret of a client.
        """
        self._often = _OFTEN * sum(number for _, number in paths)
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
                pattern += (hole(segment),)
                values.append(segment.removesuffix("/"))
        return pattern, tuple(values)

    def _learn(self, parent: Pattern, paths: Sequence[tuple[Pattern, int]]) -> None:
        """Learn the words behind a pattern, from the longer paths that begin with it."""
        depth = len(parent)
        counts: Counter[str] = Counter()
        for path, number in paths:
            word = path[depth].removesuffix("/")
            if is_word(word) and (not word or word in self._shared):
                counts[path[depth]] += number
        few = len(counts) <= _MANY
        words = {word: number for word, number in counts.items() if few or number >= self._often}
        self._words[parent] = words
        behind: dict[str, list[tuple[Pattern, int]]] = {}
        for path, number in paths:
            segment = path[depth] if path[depth] in words else hole(path[depth])
            if len(path) > depth + 1:
                behind.setdefault(segment, []).append((path, number))
        for segment, longer in behind.items():
            self._learn((*parent, segment), longer)


def merge_rare(paths: Counter[Pattern], most: int) -> None:
    """Make places for values of the last words of rare paths; the first, the method, stays."""
    while len(paths) > most:
        for path, _ in paths.most_common()[most // 2 :]:
            last = next((n for n in range(len(path) - 1, 0, -1) if path[n][:2] != HOLE), 0)
            number = paths.pop(path)
            paths[(*path[:last], hole(path[last]), *path[last + 1 :]) if last else path] += number


def hole(segment: str) -> str:
    """Return the place for the value that a segment is."""
    return f"{HOLE}/" if segment.endswith("/") else HOLE


def segments(path: str) -> Pattern:
    """Return the segments of a path; a slash at its end belongs to the last."""
    parts = path.removeprefix("/").split("/")
    return (*parts[:-2], f"{parts[-2]}/") if len(parts) > 1 and not parts[-1] else tuple(parts)


def is_word(segment: str) -> bool:
    """Whether a segment looks like a part of an address rather than a value."""
    return not segment or _WORD.fullmatch(segment.removesuffix("/")) is not None
