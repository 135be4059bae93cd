"""JSON Schema of our models, with what the lines below each field say of it."""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema, to_jsonable_python

from benchforge.model.values.units import Quantity

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
"The one that pydantic writes."


def docs(model: type[BaseModel]) -> dict[str, str]:
    """Return what is written of each field of a model, by the field's name in Python.

    It is read from the source, and only when somebody asks: a class whose source is not there
    says nothing of its fields.
    """
    docstrings: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if hasattr(cls, "__pydantic_fields__") and cls is not BaseModel:
            docstrings |= _written_below(cls)
    descriptions = {name: field.description for name, field in model.__pydantic_fields__.items()}
    return docstrings | {name: text for name, text in descriptions.items() if text}


@cache
def _written_below(cls: type[BaseModel]) -> dict[str, str]:
    try:
        body = _bodies(inspect.getsource(sys.modules[cls.__module__])).get(cls.__qualname__, ())
    except (KeyError, OSError, TypeError, ValueError, SyntaxError):
        return {}
    docstrings: dict[str, str] = {}
    for field, below in pairwise(body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                docstrings[name] = inspect.cleandoc(text)
    return docstrings


@cache
def _bodies(source: str) -> Mapping[str, Sequence[ast.stmt]]:
    """Return the body of each class of a module, by its qualified name; of two, of the first."""
    return dict(reversed([*_classes(ast.parse(source), "")]))


def _classes(outer: ast.AST, prefix: str) -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    for inner in ast.iter_child_nodes(outer):
        inside = prefix
        if isinstance(inner, ast.ClassDef):
            yield prefix + inner.name, inner.body
            inside = f"{prefix}{inner.name}."
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = f"{prefix}{inner.name}.<locals>."
        if not isinstance(inner, ast.expr):
            yield from _classes(inner, inside)


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
        shown = made["properties"][field.alias or name]
        if name in descriptions:
            shown["description"] = descriptions[name]
        if not field.is_required():
            shown["default"] = written(field.get_default(call_default_factory=True))
    return made


def written(value: object) -> Any:
    """Return a default as a suite would write it: quantities with their unit."""
    if isinstance(value, Quantity):
        return value.written
    return to_jsonable_python(value, fallback=str)


def file_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of a file of a result, which says itself what it is."""
    made = model.model_json_schema(schema_generator=Described)
    made["required"] = ["format", "kind", *made["required"]]
    return {"$schema": DRAFT, "title": model.__name__, **made}
