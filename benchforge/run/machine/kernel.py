"""What the kernel tells in the files of /proc and /sys, below a folder that tests may choose."""

from pathlib import Path

_MOST_DIGITS = 19  # of what the kernel counts in 64 bits
_LONGEST = 1_000_000  # a file of /proc may be of any length


def text(root: Path, path: str) -> str | None:
    """Return a file's words with one space between them; None when it cannot be read."""
    lines = raw(root, path)
    return None if lines is None else " ".join(lines.split())


def raw(root: Path, path: str) -> str | None:
    """Return a file as it is; None when it cannot be read."""
    try:
        with (root / path).open("rb") as file:
            return file.read(_LONGEST).decode(errors="replace")
    except (OSError, ValueError):
        return None


def fields(root: Path, path: str, separator: str = ":") -> dict[str, str]:
    """Return names and values, the first of each name; nothing when it cannot be read."""
    by_name: dict[str, str] = {}
    for line in (raw(root, path) or "").splitlines():
        name, _, value = line.partition(separator)
        by_name.setdefault(name.strip(), value.strip())
    return by_name


def number(words: str | None) -> int | None:
    """Return the whole number that a text begins with; None when it begins with none."""
    first = (words or "").split()[:1]
    digits = first[0] if first else ""
    counts = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
    return int(digits) if counts else None
