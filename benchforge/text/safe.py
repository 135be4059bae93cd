"""Escapes of untrusted text for a terminal, Markdown, CSV, HTML and JSON.

What servers print, names in suites, and all that stands in a result may hold escape sequences of a
terminal, characters that turn the direction of a line, markup, or formulas. Nothing of it is lost:
it can be seen, and does nothing.
"""

import html as markup
import json
import re

HIDDEN = "***"
"Text instead of a secret."
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&#$])")
_BEGINS = re.compile(r"\A(\d{0,9})(?=[-+=.)]+(?:\s|\Z))")  # a list, or the line of a heading
_PAINT = re.compile(r"\x1b\[(?:[0-2]|3[0-7]|[0-2];3[0-7])m")  # nothing that hides a text
_PAINT_AND_TEXT = re.compile(rf"({_PAINT.pattern})")
_FORMULA = ("=", "+", "-", "@")  # first characters of a spreadsheet's formulas
_DOUBTFUL = re.compile(r"[^ -~\n\t]")  # harmless ASCII needs no look at each character
_NOT_ASCII = re.compile(r"[^ -~]")


def text(value: str) -> str:
    """Return a text of several lines; control characters but line ends and tabs are visible."""
    return _DOUBTFUL.sub(_shown, value.replace("\r\n", "\n"))


def line(value: str) -> str:
    """Return a text for a place that has one line."""
    return " ".join(text(value).split())


def word(value: str) -> str:
    """Return a text whose line ends and tabs can be seen too."""
    return value if value.isprintable() else _NOT_ASCII.sub(_shown, value)


def markdown(value: str) -> str:
    """Return a text as one line of Markdown shows it: none of it is markup."""
    return _BEGINS.sub(r"\1\\", _MARKDOWN.sub(r"\\\1", line(value)))


def fenced(value: str, language: str = "") -> str:
    """Return a code block of Markdown that the text cannot end."""
    longest = max((len(run) for run in re.findall("`+", value)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text(value).rstrip()}\n{fence}\n"


def html(value: str) -> str:
    """Return a text as one line of HTML shows it, in an attribute too."""
    return markup.escape(line(value))


def html_lines(value: str) -> str:
    """Return a text as HTML shows it where line ends count."""
    return markup.escape(text(value))


def painted(value: str) -> str:
    """Return a text of several lines; codes for bold, dim and colours stay."""
    parts = _PAINT_AND_TEXT.split(value)
    return "".join(part if _PAINT.fullmatch(part) else text(part) for part in parts)


def csv(value: str) -> str:
    """Return a field of CSV that no spreadsheet computes; a number stays one."""
    cell = word(value)
    if not cell.lstrip().startswith(_FORMULA) or _is_number(cell):
        return cell
    return f"'{cell}"


def as_json(document: str) -> str:
    """Return a document of JSON that says the same in characters that do nothing to a terminal."""
    return _DOUBTFUL.sub(
        lambda char: char[0] if _harmless(char[0]) else json.dumps(char[0])[1:-1], document
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _harmless(char: str) -> bool:
    return char.isprintable() or char == "\xa0"


def _shown(char: re.Match[str]) -> str:
    return char[0] if _harmless(char[0]) else char[0].encode("unicode_escape").decode()
