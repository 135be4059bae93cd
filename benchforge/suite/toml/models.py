"""Tables to models, by the types of TOML ("4" is no number and true is no 1), and what is wrong."""

import json
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from typing import TypeVar, get_args

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from benchforge.model.values.cpus import JSON_PATTERN as CPUS
from benchforge.parts.fillable import WrongOption
from benchforge.parts.part import Part
from benchforge.suite.toml.document import Tables
from benchforge.suite.toml.faults import Checked, Fault, Hint, Nearest
from benchforge.suite.toml.positions import Path
from benchforge.text.readable import conjoined, cut

M = TypeVar("M", bound=BaseModel)


def typed(model: type[M], table: Mapping[str, JsonValue]) -> M:
    """Return the model of a table. Raises pydantic's ValidationError."""
    # Only with JSON is pydantic strict about scalars, and takes an array for a tuple.
    return model.model_validate_json(json.dumps(dict(table)), strict=True)


def checked(model: type[M], table: Mapping[str, JsonValue], path: Path) -> Checked[M | None]:
    """Return the model of the table at a path; None where something is wrong in it."""
    try:
        return typed(model, table)
    except ValidationError as error:
        faults = list(findings(error, dict(table)))
    for fault in (*faults, *_beside(faults, model, table)):
        owner = _owner(model, fault.path[:-1]) if fault.unknown else None
        hint = takes(fault.unknown, owner) if owner else fault.hint
        message = fault.message
        if fault.unknown:
            message = "unknown option" if owner and issubclass(owner, Part) else "unknown key"
        # A value that is missing is also of the wrong type: who said so first is enough.
        yield replace(fault.below(path), message=message, hint=hint, of_model=True)
    return None


def table_of(model: type[M], tables: Tables, name: str) -> Checked[M]:
    """Return a table of a suite; the model's defaults if it is missing or faulty."""
    table = tables.get(name, {})
    if isinstance(table, dict):
        return (yield from checked(model, table, (name,))) or model()
    yield Fault((name,), "expected a table", f"write [{name}]")
    return model()


def sound_rest(model: type[M], table: Mapping[str, JsonValue], needed: Collection[str]) -> M | None:
    """Return the model of what is sound in a faulty table; None if a `needed` key is faulty."""
    try:
        return typed(model, table)
    except ValidationError as error:
        faulty = {str(fault.path[0]) for fault in findings(error, dict(table)) if fault.path}
    try:
        rest = {key: value for key, value in table.items() if key not in faulty}
        return None if faulty & set(needed) else typed(model, rest)
    except ValidationError:
        return None


def _beside(
    faults: Sequence[Fault], model: type[BaseModel], data: Mapping[str, JsonValue]
) -> Iterator[Fault]:
    """Yield what the model's own validators say without the faulty options; pydantic skips them."""
    faulty = {str(fault.path[0]) for fault in faults if fault.path}
    while faulty and (rest := {key: data[key] for key in data.keys() - faulty}):
        try:
            typed(model, rest)
        except ValidationError as error:
            news = list(findings(error, rest))
        else:
            return
        new = {str(fault.path[0]) for fault in news if fault.options and fault.path} - faulty
        yield from (fault for fault in news if fault.options and not faulty & set(fault.options))
        if not new:
            return
        faulty |= new


def takes(unknown: str, model: type[BaseModel]) -> Hint:
    """Return a hint for an unknown key of a model: the nearest, and what it takes."""
    owner = model.name if issubclass(model, Part) else "this table"
    return Nearest(unknown, options(model), f"{owner} takes")


def _owner(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    annotation: object = model
    for step in path:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            fields = annotation.model_fields.items()
            types = (field.annotation for name, field in fields if step in {name, field.alias})
            annotation = next(types, None)
        else:
            annotation = (get_args(annotation) or (None,))[-1]
    if not isinstance(annotation, type):  # a table that may be left out is one, or None
        annotation = next(iter(get_args(annotation)), None)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def options(model: type[BaseModel]) -> list[str]:
    """Return the options of a model as TOML writes them: its own before the inherited ones."""
    inherited = getattr(model.__base__, "model_fields", {})
    fields = sorted(model.model_fields.items(), key=lambda item: item[0] in inherited)
    return [field.alias or name for name, field in fields]


def findings(error: ValidationError, data: JsonValue) -> Iterator[Fault]:
    """Yield the faults, each path once: one sentence has all members of a union."""
    by_path: dict[Path, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        by_path.setdefault(_path(detail["loc"], data), []).append(detail)
    unknown: dict[Path, list[object]] = {}  # by the table that has the keys
    for path, details in by_path.items():
        if details[0]["type"] == "extra_forbidden":
            unknown.setdefault(path[:-1], []).append(details[0]["loc"][-1])
    for path, at_path in by_path.items():
        misspelt = unknown.get(path, [])
        details = _of_tables(at_path) if _is_taken(path, at_path, by_path) else at_path
        if remaining := [detail for detail in details if not _meant(detail, misspelt)]:
            yield _named(worded(path, remaining), data)


def _is_taken(
    path: Path, details: Sequence[ErrorDetails], by_path: Mapping[Path, Sequence[ErrorDetails]]
) -> bool:
    """Return True if a member of a union takes the written table, and says what is wrong in it."""
    if not isinstance(details[0]["input"], dict):
        return False
    return any(other and other[:-1] == path for other in by_path) or bool(_of_tables(details))


def _of_tables(details: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    return [detail for detail in details if detail["type"] in {"value_error", "missing"}]


def _meant(detail: ErrorDetails, misspelt: Sequence[object]) -> bool:
    if detail["type"] != "missing":
        return False
    return bool(get_close_matches(str(detail["loc"][-1]), list(map(str, misspelt)), 1))


def _named(fault: Fault, data: JsonValue) -> Fault:
    """Point at the first of the options that a finding names which is written."""
    table = data
    for step in fault.path:
        table = table[step] if isinstance(table, dict | list) else None  # type: ignore[index]
    written = (option for option in fault.options if isinstance(table, dict) and option in table)
    return replace(fault, path=(*fault.path, *islice(written, 1)))


def _path(location: Sequence[int | str], data: JsonValue) -> Path:
    """Leave out what is not in the data: the names of a union's members and of validators."""
    path: Path = ()
    for step in location:
        match data, step:
            case dict(), str() if step in data:
                data = data[step]
            case list(), int() if step < len(data):
                data = data[step]
            case _:
                continue
        path = (*path, step)
    return path


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


def worded(path: Path, details: Sequence[ErrorDetails]) -> Fault:
    """Return in one sentence what pydantic says of one value: by each member of a union."""
    first = details[0]
    if first["type"] == "extra_forbidden":
        return Fault(path, "unknown", unknown=str(first["loc"][-1]))
    if missing := [repr(detail["loc"][-1]) for detail in details if detail["type"] == "missing"]:
        verb = "is" if len(missing) == 1 else "are"
        return Fault(path, f"{conjoined(missing)} {verb} missing")
    wanted = list(dict.fromkeys(filter(None, map(_wanted, details))))
    if wanted:
        message = f"expected {conjoined(wanted, 'or')}, got {shown(first['input'])}"
        return Fault(path, message, hint=_rewritten(wanted, first["input"]))
    if isinstance(wrong := first.get("ctx", {}).get("error"), WrongOption):
        return Fault(path, wrong.message, hint=wrong.hint, options=wrong.options)
    message = str(wrong) if wrong else first["msg"]  # of a validator that raised ValueError
    return Fault(path, message[:1].lower() + message[1:])


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
