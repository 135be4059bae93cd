r"""Tables of faults in a suite: what stands in place of what, the message, and the hint.

A fault takes two lines: `name: text => other text` and `  message | hint`. `\\n` ends a line.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Fault(NamedTuple):
    """A fault that a test plants."""

    text: str
    other: str
    message: str
    hint: str


def faults(table: str, **names: str) -> Mapping[str, Fault]:
    """Return the faults of a table by name; a name such as `{a}` stands for a longer text."""
    for name, text in names.items():
        table = table.replace(f"{{{name}}}", text)
    rows = [row.replace("\\n", "\n") for row in table.strip("\n").split("\n")]
    read = {}
    for planted, says in zip(rows[::2], rows[1::2], strict=True):
        name, _, change = planted.partition(": ")
        text, _, other = change.partition(" =>")
        message, _, hint = says.strip(" ").partition(" |")
        read[name] = Fault(text.strip(" "), other.strip(" "), message, hint.strip(" "))
    return read
