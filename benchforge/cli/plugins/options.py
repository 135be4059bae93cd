"""Options of parts for a person: type, default and purpose."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter

from benchforge.cli.suites.schema.json_schema import Described, Schema, docs, written
from benchforge.suite.toml.document import Tables, in_toml, toml_key
from benchforge.suite.toml.models import WORDS
from benchforge.text.readable import conjoined

_SINGULAR = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
_SEVERAL = {"integer": "whole numbers", "number": "numbers", "string": "text"}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minItems": "{} or more",
    "minLength": "{} or more characters",
    "pattern": "that matches `{}`",
}


@dataclass(frozen=True)
class Option:
    """An option as TOML writes it."""

    name: str
    type: str
    "Type in words: a whole number, at least 1."
    required: bool
    default: str
    "Default as TOML writes it; empty if there is none."
    doc: str
    "Sentence below the option in the source; may be empty."


def options(model: type[BaseModel]) -> list[Option]:
    """Return the options of a part, or the keys of a table: its own before the inherited ones.

    Raises whatever a plugin raises where its schema cannot be made.
    """
    schema = TypeAdapter(model).json_schema(schema_generator=Described)
    defs, docstrings = schema.get("$defs", {}), docs(model)
    if "$ref" in schema:  # of a model that may hold itself
        schema = defs[schema["$ref"].rpartition("/")[2]]
    inherited = getattr(model.__base__, "__pydantic_fields__", {})
    fields = sorted(model.__pydantic_fields__.items(), key=lambda item: item[0] in inherited)
    collected: list[Option] = []
    for field_name, field in fields:
        name = field.alias or field_name
        required = field.is_required()
        default = None if required else field.get_default(call_default_factory=True)
        type_ = in_words(schema["properties"][name], defs)
        text = "" if default is None else in_toml(written(default))
        collected.append(Option(name, type_, required, text, docstrings.get(field_name, "")))
    return collected


def in_words(schema: Schema, defs: Schema) -> str:
    """Return the values of a schema, for a person, but for null, since TOML has none."""
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        members = [in_words(each, defs) for each in schema["anyOf"] if each.get("type") != "null"]
        return conjoined(dict.fromkeys(members), "or")
    if form := WORDS.get(schema.get("pattern", "")):
        return form
    if values := _values(schema):
        return values if len(schema.get("enum", "1")) == 1 else f"one of {values}"
    # Of a table, whether its keys have a form or not.
    inner = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    words = {
        "array": f"an array{_of(schema.get('items'), defs)}",
        "object": f"a table{_of(inner[0], defs)}",
        "string": "a path" if schema.get("format") == "path" else "text",
    }
    match schema.get("type"):
        case list():  # a quantity
            return str(schema["title"])
        case str() as name:
            return _bounded(words.get(name) or _SINGULAR[name], schema)
    return "any value"


def _of(inner: object, defs: Schema) -> str:
    if not isinstance(inner, dict) or not inner:
        return ""
    words = _values(inner) or _SEVERAL.get(str(inner.get("type"))) or in_words(inner, defs)
    return f" of {words}"


def _values(schema: Schema) -> str:
    if "enum" in schema:
        return ", ".join(map(in_toml, schema["enum"]))
    return in_toml(schema["const"]) if "const" in schema else ""


def _bounded(words: str, schema: Schema) -> str:
    if schema.get("type") == "integer" and schema.get("exclusiveMinimum") == 0:
        schema = {**schema, "exclusiveMinimum": None, "minimum": 1}
    bounds = {key: schema[key] for key in _BOUNDS if schema.get(key) is not None}
    return ", ".join([words, *(_BOUNDS[key].format(bound) for key, bound in bounds.items())])


def suite_in_toml(tables: Tables) -> str:
    """Return the tables of a suite as TOML."""
    plain = [_pair(key, value) for key, value in tables.items() if not isinstance(value, dict)]
    blocks = ["\n".join(plain)]
    for key, table in tables.items():
        if not isinstance(table, dict):
            continue
        flat: Tables = {name: value for name, value in table.items() if not isinstance(value, dict)}
        if flat or not table:
            blocks.append(_block(toml_key(key), flat))
        blocks += [
            _block(f"{toml_key(key)}.{toml_key(label)}", inner)
            for label, inner in table.items()
            if isinstance(inner, dict)
        ]
    return "\n\n".join(blocks) + "\n"


def _block(title: str, table: Tables) -> str:
    return "\n".join([f"[{title}]", *(_pair(key, value) for key, value in table.items())])


def _pair(key: str, value: Any) -> str:
    return f"{toml_key(key)} = {in_toml(value)}"
