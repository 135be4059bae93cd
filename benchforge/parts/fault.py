"""How it is told that a part's method went wrong: its plugin is at fault, and no user."""

from benchforge.errors import BenchforgeError
from benchforge.parts.part import Part


def fault(
    part: Part, method: str, what: str, kind: type[BenchforgeError] = BenchforgeError
) -> BenchforgeError:
    """Return the error of a method that raised, or returned, what it should not."""
    hint = f"its plugin is at fault; see: benchforge plugins check {part.kind}-{part.name}"
    return kind(f"{part.kind} {part.name}: {method}(): {what}", hint)
