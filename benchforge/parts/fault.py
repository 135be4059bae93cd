"""How it is told that a part's method went wrong: its plugin is at fault, and no user."""

from pydantic import ValidationError

from benchforge.errors import BenchforgeError
from benchforge.parts.part import Part
from benchforge.text.program import program


def fault(
    part: Part, method: str, what: str, kind: type[BenchforgeError] = BenchforgeError
) -> BenchforgeError:
    """Return the error of a method that raised, or returned, what it should not."""
    hint = f"its plugin is at fault; see: {program()} plugins check {part.kind}-{part.name}"
    return kind(f"{part.kind} {part.name}: {method}(): {what}", hint)


def in_a_line(error: BaseException) -> str:
    """Return an error as Python names it, its first line alone; pydantic's with the field."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join([error.title, *map(str, first["loc"])])
        return f"{where}: {first['msg']}"
    line = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {line}".removesuffix(": ")
