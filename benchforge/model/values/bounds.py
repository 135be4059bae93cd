"""What a document of JSON may hold, so that it is read in a bounded amount of memory."""

from typing import AnyStr

from benchforge.text.readable import too_many

MOST_VALUES = 1_000_000
"""A value that is wrong takes about a kilobyte to tell: so many take less than a gigabyte.
Thousands of trials have a tenth of that."""


def bounded(document: AnyStr) -> AnyStr:
    """Return a JSON document unchanged. Raises ValueError if it has too many values."""
    if len(document) <= MOST_VALUES:  # each value takes a character
        return document
    if isinstance(document, str):
        values = document.count(",") + document.count("[") + document.count("{")
    else:
        values = document.count(b",") + document.count(b"[") + document.count(b"{")
    if values > MOST_VALUES:
        raise ValueError(too_many(values, MOST_VALUES, "values or so"))
    return document
