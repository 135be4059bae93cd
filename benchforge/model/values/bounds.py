"""What a document of JSON may hold, so that it is read in a bounded amount of memory."""

from typing import AnyStr

MOST_VALUES = 1_000_000
"""A value that is wrong takes about a kilobyte to tell: so many take less than a gigabyte.
Thousands of trials have a tenth of that."""


def bounded(document: AnyStr) -> AnyStr:
    """Return a JSON document unchanged. Raises ValueError if it has too many values."""
    if isinstance(document, str):
        values = document.count(",") + document.count("[") + document.count("{")
    else:
        values = document.count(b",") + document.count(b"[") + document.count(b"{")
    if values > MOST_VALUES:
        raise ValueError(f"has {values:,} values or so, and at most {MOST_VALUES:,} are read")
    return document
