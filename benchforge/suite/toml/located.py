"""A fault of a suite, at the place where its value was written."""

from collections.abc import Callable

from benchforge.suite.document import Document, Setting
from benchforge.suite.excerpt import excerpt
from benchforge.suite.faults import Fault, Hint
from benchforge.suite.positions import Path, dotted


def located(
    document: Document,
    path: Path,
    message: str,
    hint: Hint = "",
    *,
    hide: Callable[[str], str] = str,
) -> Fault:
    """Return a fault of the value at a path: with file, line and column, or as --set gave it.

    `hide` takes out what nobody is to see.
    """
    origin = document.origin(path)
    told = f"{dotted(path)}: {message}" if path else message
    if isinstance(origin, Setting):
        told = message if path == origin.path else told
        return Fault(hide(origin.shown), hide(told), hint=hide(str(hint)))
    if origin is None:
        return Fault(document.shown, hide(told), hint=hide(str(hint)))
    where = f"{document.shown}:{origin.line}:{origin.column}"
    shown = excerpt(document.line(origin.line), origin, hide)
    return Fault(where, hide(told), shown, hide(str(hint)))
