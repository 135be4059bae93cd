"""JSON Schema of our models, with the sentences below their fields."""

import ast
import inspect
import re
import textwrap
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema, to_jsonable_python

from benchforge.model.values.units import Duration, Quantity, Rate, Size

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
"The one that pydantic writes."
# Not plain false: taplo would report it at every line of the table.
UNKNOWN: Schema = {"not": {"title": "unknown key"}}
ANY: Schema = {"additionalProperties": True}
"Of any type. Without this tombi warns of the content of such a table."
_ASKS: Schema = {
    "properties": {"env": {"type": "string", "description": "A name in the environment."}},
    "required": ["env"],
    "additionalProperties": UNKNOWN,
}
"Table instead of a text that the environment gives, and that is kept secret."
_KEPT = {
    "string": ("pattern", "minLength", "maxLength"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "boolean": (),
    "array": ("minItems", "maxItems"),
    "object": ("required", "minProperties", "maxProperties"),
}
"Keywords by type that both sides understand alike. The loader checks the rest."
_WHOLE = {"required", "minProperties", "allOf"}
"Keywords that hold for a complete table only."
_BEYOND = "\u0080-\U0010ffff"  # what Python's \w and \d match outside of ASCII


def docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the sentence of each field of a model, by its name in Python; none without source."""
    docstrings: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if hasattr(cls, "__pydantic_fields__") and cls is not BaseModel:
            docstrings |= written_below(cls)
    descriptions = {name: field.description for name, field in model.__pydantic_fields__.items()}
    return docstrings | {name: text for name, text in descriptions.items() if text}


@cache
def written_below(cls: type) -> dict[str, str]:
    """Return the sentences below the fields of a class, by name; none without its source."""
    try:
        (source,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError, ValueError, SyntaxError):
        return {}
    docstrings: dict[str, str] = {}
    for field, below in pairwise(source.body if isinstance(source, ast.ClassDef) else ()):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                docstrings[name] = inspect.cleandoc(text)
    return docstrings


class Described(GenerateJsonSchema):
    """Pydantic's generator, with the docs of fields, and defaults as a suite would write them."""

    def model_schema(self, schema: core_schema.ModelSchema) -> Schema:
        """Return the schema of a model, each of its properties with its description."""
        return _described(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> Schema:
        """Return the schema of a row, likewise."""
        return _described(super().dataclass_schema(schema), schema["cls"])

    def function_before_schema(self, schema: Any) -> Schema:
        """Return the type that the validator names; any value if it names none."""
        inside = schema["schema"]
        while inside["type"] in {"function-before", "function-after", "function-wrap"}:
            inside = inside["schema"]
        if inside["type"] in {"model", "model-fields"} or schema.get("json_schema_input_schema"):
            return super().function_before_schema(schema)
        return {}

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return False: a name that is written otherwise tells nothing."""
        return False

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> Schema:
        """Accept any value: the model checks what JSON Schema cannot express."""
        return {}


def _described(made: Schema, model: type[Any]) -> Schema:
    descriptions = docs(model)
    for name, field in model.__pydantic_fields__.items():
        text_shown = made["properties"][field.alias or name]
        if name in descriptions:
            text_shown["description"] = descriptions[name]
        if not field.is_required():
            text_shown["default"] = written(field.get_default(call_default_factory=True))
    return made


def written(value: object) -> Any:
    """Return a default as a suite would write it: quantities with their unit."""
    if isinstance(value, Quantity):
        return value.written
    return to_jsonable_python(value, fallback=str)


def file_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of a file of a result, with its format and kind."""
    made = model.model_json_schema(schema_generator=Described)
    made["required"] = ["format", "kind", *made["required"]]
    return {"$schema": DRAFT, "title": model.__name__, **made}


def table(model: type[BaseModel], *, environment: bool = False) -> Schema:
    """Return the schema of a table, nothing in it but references to `leaves`.

    With `environment`, `{ env = "NAME" }` may replace each text. Raises what a plugin raises whose
    schema cannot be made.
    """
    made = model.model_json_schema(schema_generator=Described)
    return _Reading(made.pop("$defs", {}), environment=environment).read(made)


def partial(schema: Schema) -> Schema:
    """Return the schema of an incomplete table, which is laid over another one."""
    if not isinstance(schema.get("type"), str):
        return schema
    rest = {key: inner for key, inner in schema.items() if key not in _WHOLE}
    for key in ("properties", "patternProperties"):
        if key in rest:
            rest[key] = {name: partial(inner) for name, inner in rest[key].items()}
    if isinstance(rest.get("additionalProperties"), dict):
        rest["additionalProperties"] = partial(rest["additionalProperties"])
    return rest


def portable(pattern: str) -> str | None:
    """Return a pattern of Python's for all readers of schemas; None where that is not possible."""
    translated, inside = "", False
    for piece in re.findall(r"\\.|\(\?:?|.", pattern, re.DOTALL):
        if piece == "(?" or re.fullmatch(r"\\[^\W_wdsnrtfv]", piece):
            return None  # what the engines do not have, or understand in different ways
        if piece in {r"\w", r"\d"}:
            translated += f"{piece}{_BEYOND}" if inside else f"[{piece}{_BEYOND}]"
            continue
        inside = piece == "[" or (inside and piece != "]")
        translated += piece
    return translated


class _Reading:
    """Pydantic's schema of one model, read once from top to bottom."""

    def __init__(self, defs: Mapping[str, Schema], *, environment: bool) -> None:
        self._defs = defs
        self._environment = environment

    def read(self, schema: Schema, outer: tuple[str, ...] = ()) -> Schema:
        """Return the values and the sentence of a schema; `outer` are the models around it."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            siblings = {key: value for key, value in schema.items() if key != "$ref"}
            # A table inside itself: what is below is the loader's to judge.
            target = {} if name in outer else self._defs[name]
            return self.read({**target, **siblings}, (*outer, name))
        return {**_referred(self.takes(schema, outer)), **_documentation(schema)}

    def takes(self, schema: Schema, outer: tuple[str, ...] = ()) -> Schema:
        """Return the values of a schema."""
        if members := schema.get("anyOf", schema.get("oneOf")):
            return self._one_of(members, outer)
        if "enum" in schema or "const" in schema:
            return self._chosen(schema.get("enum", [schema.get("const")]))
        kind = schema.get("type")
        if isinstance(kind, list):  # a quantity
            takes = {key: schema[key] for key in ("type", "minimum", "pattern")}
        elif kind in _KEPT:
            takes = {"type": kind} | {key: schema[key] for key in _KEPT[kind] if key in schema}
        else:
            return ANY
        if "pattern" in takes and (pattern := portable(takes.pop("pattern"))):
            takes["pattern"] = pattern
        if kind == "object":
            takes |= self._keys(schema, outer)
        if kind == "array" and isinstance(schema.get("items"), dict):
            takes["items"] = self.read(schema["items"], outer)
        return self._filled(takes)

    def _chosen(self, values: list[object]) -> Schema:
        takes: Schema = {"enum": values}
        if self._environment and any(isinstance(value, str) for value in values):
            return {"anyOf": [takes, {"$ref": "#/$defs/env"}]}
        return takes

    def _one_of(self, members: list[Schema], outer: tuple[str, ...]) -> Schema:
        choices = [member for member in members if member.get("type") != "null"]
        if len(choices) == 1:
            alone = self.read(choices[0], outer)
            alone.pop("description", None)
            return alone
        if all(each.keys() == {"type"} and isinstance(each["type"], str) for each in choices):
            return self._filled({"type": [each["type"] for each in choices]})
        read = [self.read(each, outer) for each in choices]
        return ANY if ANY in read else {"anyOf": read}

    def _keys(self, schema: Schema, outer: tuple[str, ...]) -> Schema:
        keys: Schema = {}
        for key in ("properties", "patternProperties"):
            if key in schema:
                keys[key] = {name: self.read(inner, outer) for name, inner in schema[key].items()}
        others = schema.get("additionalProperties", True)
        if isinstance(others, dict):
            others = self.read(others, outer)
        keys["additionalProperties"] = UNKNOWN if others is False else others
        return keys

    def _filled(self, takes: Schema) -> Schema:
        """Allow `{ env = "NAME" }` instead of a text."""
        kinds = takes["type"] if isinstance(takes["type"], list) else [takes["type"]]
        if not self._environment or "string" not in kinds:
            return takes
        return {**takes, "type": [*kinds, "object"], **_ASKS}


def _documentation(schema: Schema) -> Schema:
    """Return the sentences and the default of a schema, which editors show."""
    documentation: Schema = {}
    members = [schema, *schema.get("anyOf", ())]
    name = next((member["title"] for member in members if isinstance(member.get("type"), list)), "")
    form = f"{name[:1].upper()}{name[1:]}." if name else ""
    if text := "\n".join(filter(None, (schema.get("description"), form))):
        documentation["description"] = text
    if schema.get("default") is not None:
        documentation["default"] = schema["default"]
    return documentation


def _referred(takes: Schema) -> Schema:
    leaf_name = next((name for name, leaf in leaves().items() if leaf == takes), None)
    return {"$ref": f"#/$defs/{leaf_name}"} if leaf_name else takes


@cache
def leaves() -> Mapping[str, Schema]:
    """Return the schemas to which many tables refer, by name."""
    by_name: dict[str, Schema] = {
        "unknown": {"not": {"title": "unknown key"}, **ANY},
        "env": {"type": "object", **_ASKS},
    }
    schemas: dict[str, Schema] = {"text": {"type": "string"}}
    for kind in (Duration, Size, Rate):
        schemas[kind.__name__.lower()] = TypeAdapter(kind).json_schema()
    for environment, suffix in ((False, ""), (True, "_or_env")):
        reading = _Reading({}, environment=environment)
        by_name |= {name + suffix: reading.takes(schema) for name, schema in schemas.items()}
    del by_name["text"]
    return by_name
