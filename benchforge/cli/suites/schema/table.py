"""The JSON Schema of one table of a suite, as the loader reads it: never stricter, TOML only."""

import re
from collections.abc import Mapping
from functools import cache

from pydantic import BaseModel, TypeAdapter

from benchforge.cli.suites.schema.json_schema import Described, Schema
from benchforge.model.values.units import Duration, Rate, Size

# Not plain false: taplo would tell of it at every line of the table.
UNKNOWN: Schema = {"not": {"title": "unknown key"}}
ANY: Schema = {"additionalProperties": True}
"Of any type. Without this tombi warns of what stands in a table of that kind."

_ASKS: Schema = {
    "properties": {"env": {"type": "string", "description": "A name in the environment."}},
    "required": ["env"],
    "additionalProperties": UNKNOWN,
}
"What stands in place of a text that the environment gives: it is kept secret."

_KEPT = {
    "string": ("pattern", "minLength", "maxLength"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "boolean": (),
    "array": ("minItems", "maxItems"),
    "object": ("required", "minProperties", "maxProperties"),
}
"By type: what both sides understand alike. The loader says the rest."

_WHOLE = {"required", "minProperties", "allOf"}
"What can only be said of a table that is whole."

# What Python's \w and \d take outside of ASCII.
_BEYOND = "\u0080-\U0010ffff"


def table(model: type[BaseModel], *, environment: bool = False) -> Schema:
    """Return the schema of a table, nothing in it but references to `leaves`.

    With `environment`, `{ env = "NAME" }` may stand in place of each text. Raises whatever a plugin
    raises where its schema cannot be made.
    """
    made = model.model_json_schema(schema_generator=Described)
    return _Reading(made.pop("$defs", {}), environment=environment).read(made)


def partial(schema: Schema) -> Schema:
    """Return the schema of a table of which some is left out: it is laid over another one."""
    if not isinstance(schema.get("type"), str):
        return schema
    left = {key: inner for key, inner in schema.items() if key not in _WHOLE}
    for key in ("properties", "patternProperties"):
        if key in left:
            left[key] = {name: partial(inner) for name, inner in left[key].items()}
    if isinstance(left.get("additionalProperties"), dict):
        left["additionalProperties"] = partial(left["additionalProperties"])
    return left


def portable(pattern: str) -> str | None:
    """Return a pattern of Python's for all who read schemas; None where that is not possible."""
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

    def read(self, schema: Schema, above: tuple[str, ...] = ()) -> Schema:
        """Return what a schema takes and tells; `above` are the models that it stands in."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            # A table inside itself: what is below is the loader's to judge.
            target = {} if name in above else self._defs[name]
            return self.read({**target, **beside}, (*above, name))
        return {**_referred(self.takes(schema, above)), **_documentation(schema)}

    def takes(self, schema: Schema, above: tuple[str, ...] = ()) -> Schema:
        """Return what a schema takes."""
        if members := schema.get("anyOf", schema.get("oneOf")):
            return self._one_of(members, above)
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
            takes |= self._keys(schema, above)
        if kind == "array" and isinstance(schema.get("items"), dict):
            takes["items"] = self.read(schema["items"], above)
        return self._filled(takes)

    def _chosen(self, values: list[object]) -> Schema:
        takes: Schema = {"enum": values}
        if self._environment and any(isinstance(value, str) for value in values):
            return {"anyOf": [takes, {"$ref": "#/$defs/env"}]}
        return takes

    def _one_of(self, members: list[Schema], above: tuple[str, ...]) -> Schema:
        left = [one for one in members if one.get("type") != "null"]
        if len(left) == 1:
            return {
                key: value
                for key, value in self.read(left[0], above).items()
                if key != "description"
            }
        if all(one.keys() == {"type"} and isinstance(one["type"], str) for one in left):
            return self._filled({"type": [one["type"] for one in left]})
        read = [self.read(one, above) for one in left]
        return ANY if ANY in read else {"anyOf": read}

    def _keys(self, schema: Schema, above: tuple[str, ...]) -> Schema:
        keys: Schema = {}
        for key in ("properties", "patternProperties"):
            if key in schema:
                keys[key] = {name: self.read(inner, above) for name, inner in schema[key].items()}
        others = schema.get("additionalProperties", True)
        if isinstance(others, dict):
            others = self.read(others, above)
        keys["additionalProperties"] = UNKNOWN if others is False else others
        return keys

    def _filled(self, takes: Schema) -> Schema:
        """Let `{ env = "NAME" }` stand in place of a text."""
        kinds = takes["type"] if isinstance(takes["type"], list) else [takes["type"]]
        if not self._environment or "string" not in kinds:
            return takes
        return {**takes, "type": [*kinds, "object"], **_ASKS}


def _documentation(schema: Schema) -> Schema:
    """Return what a schema tells a person: editors show it."""
    documentation: Schema = {}
    members = [schema, *schema.get("anyOf", ())]
    wanted = next(
        (member["title"] for member in members if isinstance(member.get("type"), list)), ""
    )
    form = f"{wanted[:1].upper()}{wanted[1:]}." if wanted else ""
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
    """Return what many tables refer to, by name."""
    by_name: dict[str, Schema] = {
        "unknown": {"not": {"title": "unknown key"}, **ANY},
        "env": {"type": "object", **_ASKS},
    }
    for environment, suffix in ((False, ""), (True, "_or_env")):
        reading = _Reading({}, environment=environment)
        for name, written in (
            ("text", {"type": "string"}),
            ("duration", TypeAdapter(Duration).json_schema()),
            ("size", TypeAdapter(Size).json_schema()),
            ("rate", TypeAdapter(Rate).json_schema()),
        ):
            by_name[name + suffix] = reading.takes(written)
    del by_name["text"]
    return by_name
