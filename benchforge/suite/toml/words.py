"""Wording of pydantic's errors for authors of TOML."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic_core import ErrorDetails

from benchforge.model.values.cpus import JSON_PATTERN as CPUS
from benchforge.parts.fillable import WrongOption
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import conjoined, cut

_WHOLE, _NUMBER, _ARRAY, _TEXT = "a whole number", "a number", "an array", "text"
_WANTED = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), _WHOLE),
    **dict.fromkeys(("float_type", "float_parsing"), _NUMBER),
    "finite_number": "a finite number",
    "string_type": _TEXT,
    "path_type": "a path",
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), _ARRAY),
    **dict.fromkeys(("dict_type", "mapping_type"), "a table"),
    **dict.fromkeys(("model_type", "model_attributes_type"), "a table"),
    **dict.fromkeys(("literal_error", "enum"), "{expected}"),
    "quantity": "{wanted}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
    "string_pattern_mismatch": "text of the form {pattern}",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "too_short": "at least {min_length} elements",
    "too_long": "at most {max_length} elements",
}
_SHOWN = 60  # characters of a value

PATH_OF_A_REQUEST = "a path that begins with '/', in ASCII and without spaces"

WORDS: Mapping[str, str] = {
    r"^/[!-~]*$": PATH_OF_A_REQUEST,
    r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$": "the name of a header, such as Accept",
    r"^[\t -~]*$": "one line of ASCII",
    r"^\w[\w.-]*$": "letters, digits, '_', '-' and '.'",
    r"^[A-Za-z0-9_.-]+$": "letters of ASCII, digits, '_', '-' and '.'",
    r"^([A-Za-z0-9]|-r )[^\r\n]*$": "a requirement such as 'flask>=3' or '-r requirements.txt'; of "
    "a project with pyproject.toml or uv.lock, instead name the Python that `uv sync` makes in its "
    'folder: python = "../app/.venv/bin/python"',
    r"^[^-\s][^\x00-\x1f]*$": "the name of a branch, tag or commit",
    CPUS: "text such as '0-3,8'",
}


@dataclass(frozen=True)
class ModelFault:
    """One thing that is wrong, at a path below what was validated."""

    path: Path
    message: str
    unknown: str = ""
    "The key, where the finding is that nobody knows it."
    hint: str = ""
    options: tuple[str, ...] = ()
    "All that were looked at, where a part's validator names them."


def worded(path: Path, details: Sequence[ErrorDetails]) -> ModelFault:
    """Return in one sentence what pydantic says of one value: by each member of a union."""
    first = details[0]
    if first["type"] == "extra_forbidden":
        return ModelFault(path, "unknown", str(first["loc"][-1]))
    if missing := [repr(detail["loc"][-1]) for detail in details if detail["type"] == "missing"]:
        verb = "is" if len(missing) == 1 else "are"
        return ModelFault(path, f"{conjoined(missing)} {verb} missing")
    wanted = list(dict.fromkeys(filter(None, map(_wanted, details))))
    if wanted:
        message = f"expected {conjoined(wanted, 'or')}, got {shown(first['input'])}"
        return ModelFault(path, message, hint=_rewritten(wanted, first["input"]))
    if isinstance(wrong := first.get("ctx", {}).get("error"), WrongOption):
        return ModelFault(path, wrong.message, hint=wrong.hint, options=wrong.options)
    return ModelFault(path, _message(first))


def _rewritten(wanted: Sequence[str], value: object) -> str:
    """Return a hint where the value only has another form than what is wanted."""
    bare = isinstance(value, str | int | float) and not isinstance(value, bool)
    if wanted == [_ARRAY] and bare:
        more = "" if isinstance(value, str) else ", ..."  # numbers come in pairs
        return f"write {json.dumps(_as_elements(value), ensure_ascii=False)[:-1]}{more}]"
    if wanted == [_TEXT] and bare:
        return f'write "{value}"'
    if _WHOLE in wanted and isinstance(value, str) and value.isdecimal():
        return f"write {value}, without quotes"
    if wanted == [PATH_OF_A_REQUEST] and isinstance(value, str) and value.startswith("/"):
        return "write a space as %20, and 'ä' as %C3%A4, its bytes in UTF-8"
    return ""


def _as_elements(value: object) -> list[object]:
    """Return what an array would hold: a command line, or labels, are several elements."""
    try:
        return list(shlex.split(value)) if isinstance(value, str) and value.strip() else [value]
    except ValueError:  # a quotation mark stands alone
        return [value]


def _wanted(detail: ErrorDetails) -> str:
    context: Mapping[str, object] = detail.get("ctx", {})
    if (form := WORDS.get(str(context.get("pattern")))) is not None:
        return form
    words = _WANTED.get(detail["type"], "")
    sentence = words.format(**{key: _count(value) for key, value in context.items()})
    return re.sub(r" 1 (element|character)s$", r" 1 \1", sentence)


def _message(detail: ErrorDetails) -> str:
    reason = detail.get("ctx", {}).get("error")  # of a validator that raised ValueError
    message = str(reason) if reason else detail["msg"]
    return message[:1].lower() + message[1:]


def _count(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def shown(value: object) -> str:
    """Return a value as an error message shows it."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array" if value else "an empty array"
    if isinstance(value, bool):
        return str(value).lower()
    return cut(repr(value), _SHOWN)
