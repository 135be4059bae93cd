"""A fault of a suite, at the place where its value was written."""

from benchforge.suite.document import Document, Setting
from benchforge.suite.excerpt import excerpt
from benchforge.suite.faults import Fault
from benchforge.suite.positions import Path, dotted


def located(document: Document, path: Path, message: str, hint: str = "") -> Fault:
    """Return a fault of the value at a path: with file, line and column, or as --set gave it."""
    origin = document.origin(path)
    told = f"{dotted(path)}: {message}" if path else message
    if isinstance(origin, Setting):
        return Fault(origin.shown, message if path == origin.path else told, hint=hint)
    if origin is None:
        return Fault(document.shown, told, hint=hint)
    where = f"{document.shown}:{origin.line}:{origin.column}"
    return Fault(where, told, excerpt(document.text, origin), hint)
