"""A fault of a suite, at the place where its value was written."""

from collections.abc import Callable

from benchforge.suite.toml.document import Document, Setting
from benchforge.suite.toml.excerpt import excerpt
from benchforge.suite.toml.faults import Hint, SuiteFault
from benchforge.suite.toml.positions import Path, dotted


def located(
    document: Document,
    path: Path,
    message: str,
    hint: Hint = "",
    *,
    hide: Callable[[str], str] = str,
) -> SuiteFault:
    """Return a fault of the value at a path: with file, line and column, or as --set gave it.

    `hide` takes out what nobody is to see.
    """
    origin = document.origin(path)
    sentence = f"{dotted(path)}: {message}" if path else message
    if isinstance(origin, Setting):
        sentence = message if path == origin.path else sentence
        return SuiteFault(hide(origin.shown), hide(sentence), hint=hide(str(hint)))
    if origin is None:
        return SuiteFault(document.shown, hide(sentence), hint=hide(str(hint)))
    where = f"{document.shown}:{origin.line}:{origin.column}"
    shown = excerpt(document.line(origin.line), origin, hide)
    return SuiteFault(where, hide(sentence), shown, hide(str(hint)))
