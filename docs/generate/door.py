"""What a plugin imports, and the hooks that it may listen to."""

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from typing import get_type_hints

from pydantic import BaseModel
from sphinx.pycode import ModuleAnalyzer

from benchforge import hookspecs, plugin
from benchforge.parts.part import Part
from docs.generate.text import doc_of, first_line, page_of, plain, table

_MODULE = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Z])")


def page() -> str:
    """Return the page."""
    things = {name: getattr(plugin, name) for name in sorted(plugin.__all__)}
    classes = {name: one for name, one in things.items() if isinstance(one, type)}
    parts = {name: one for name, one in classes.items() if issubclass(one, Part)}
    values = {name: one for name, one in classes.items() if name not in parts}
    functions = {name: one for name, one in things.items() if inspect.isfunction(one)}
    return page_of(
        "Plugins: what they import",
        f"{doc_of(plugin)} Built-in parts use the same door.",
        "## Hooks",
        "A plugin marks its functions with `hookimpl`, and may leave out parameters that it does "
        "not use.",
        *(_hook(name, one) for name, one in _hooks()),
        "## Parts",
        "What a plugin brings: a subclass of one of these. Its options are its own fields.",
        *(_class(name, one) for name, one in parts.items()),
        "## Values",
        "What parts are given and return.",
        *(_class(name, one) for name, one in values.items()),
        "## Functions",
        table(
            ("function", "what it does"),
            [(f"`{_signature(name, one)}`", first_line(one)) for name, one in functions.items()],
        ),
    )


def _hooks() -> Iterator[tuple[str, Callable[..., object]]]:
    for name, thing in vars(hookspecs).items():
        if name.startswith("benchforge_"):
            yield name, thing


def _hook(name: str, hook: Callable[..., object]) -> str:
    return f"### {name}\n\n```text\n{_signature(name, hook)}\n```\n\n{doc_of(hook)}"


def _class(name: str, cls: type) -> str:
    return "\n\n".join(
        filter(
            None,
            [
                f"### {name}",
                _written_doc(cls),
                table(("field", "holds", "what it is"), _fields(cls)),
                table(("method", "what it does"), _methods(cls)),
            ],
        )
    )


def _written_doc(cls: type) -> str:
    """Return the docstring, unless Python made it of the fields."""
    made = dataclasses.is_dataclass(cls) and (cls.__doc__ or "").startswith(f"{cls.__name__}(")
    return "" if made else doc_of(cls)


def _fields(cls: type) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of a class, those of all parts of its kind too."""
    analyzed = ModuleAnalyzer.for_module(cls.__module__)
    said = analyzed.find_attr_docs()
    model = cls.model_fields if issubclass(cls, BaseModel) else {}
    kinds = get_type_hints(cls)  # without what is said of a value beyond its type
    for name in inspect.get_annotations(cls):
        if not name.startswith("_") and name != "kind":
            field = model.get(name)
            holds = _MODULE.sub("", inspect.formatannotation(kinds[name]))
            doc = " ".join(said.get((cls.__name__, name), []))
            yield f"`{(field and field.alias) or name}`", f"`{holds}`", plain(doc)


def _methods(cls: type) -> Iterator[tuple[str, str]]:
    for name, thing in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(thing, property):
            yield f"`{name}`", first_line(thing)
        elif isinstance(thing, classmethod | staticmethod):
            yield f"`{_signature(name, thing.__func__)}`", first_line(thing.__func__)
        elif inspect.isfunction(thing) and thing.__doc__:
            yield f"`{_signature(name, thing)}`", first_line(thing)


def _signature(name: str, function: Callable[..., object]) -> str:
    """Return how it is called, with types by their own names."""
    given = inspect.signature(function)
    parameters = [one for key, one in given.parameters.items() if key not in {"self", "cls"}]
    text = str(given.replace(parameters=parameters))
    return _MODULE.sub("", f"{name}{text}").replace("collections.abc.", "").replace("~", "")
