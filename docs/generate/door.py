"""What a plugin imports, and the hooks that it may listen to."""

import ast
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import ClassVar, get_origin, get_type_hints

from sphinx.pycode import ModuleAnalyzer

from benchforge import plugin
from benchforge.parts import hookspecs
from benchforge.plugin import databases, drawing, load_tools
from docs.generate.text import doc_of, first_line, page_of, plain, table

_MODULE = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Z])")
_OPTIONAL = re.compile(r"Optional\[([\w.]+)\]")
_GROUP = re.compile(r"^# ([^:\n]+): (.+)\n__all__ \+?= \[([^\]]*)\]", re.MULTILINE)


def page() -> str:
    """Return the page."""
    return page_of(
        "Plugin API",
        f"{first_line(plugin)} Built-in parts use the same module. These names are a promise: the "
        "changelog lists each change with its replacement.",
        "## Hooks",
        doc_of(hookspecs).partition("\n\n")[2],
        *(_hook(name, one) for name, one in _hooks()),
        "## Commands",
        "An entry point of the group `benchforge.commands` brings a command. Its name is the "
        "command's; its value is a module whose `command` is a click command, which returns the "
        "exit code. `benchforge --help` lists it by its name, and imports nothing of it.",
        *(section for group in _groups() for section in _sections(*group)),
    )


def _groups() -> Iterator[tuple[ModuleType, str, str, list[str]]]:
    """Yield module, heading, sentence and names of each group, from the modules' own texts."""
    for module in (plugin, databases, load_tools, drawing):
        for title, sentence, names in _GROUP.findall(inspect.getsource(module)):
            yield module, title, sentence, re.findall(r'"(\w+)"', names)


def _sections(module: ModuleType, title: str, sentence: str, names: list[str]) -> Iterator[str]:
    things = {name: getattr(module, name) for name in names if name != "hookimpl"}
    if not things:
        return
    room = "" if module is plugin else f" Import them from `{module.__name__}`."
    yield f"## {title}\n\n{sentence[:1].upper()}{sentence[1:]}{room}"
    sources = _sources(module)
    for name, thing in things.items():
        if isinstance(thing, type):
            yield _class(name, thing)
    if rest := {name: thing for name, thing in things.items() if not isinstance(thing, type)}:
        rows = [
            (f"`{_called(name, thing)}`", _does(thing, _sentence(sources.get(name), name)))
            for name, thing in rest.items()
        ]
        yield table(("name", "description"), rows)


def _called(name: str, thing: object) -> str:
    return _signature(name, thing) if inspect.isfunction(thing) else name


def _sources(module: ModuleType) -> dict[str, str]:
    """Return the module from which a module imports each of its names."""
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def _sentence(source: str | None, name: str) -> str:
    """Return the string below a constant; empty without one."""
    docs = {} if source is None else ModuleAnalyzer.for_module(source).find_attr_docs()
    return " ".join(docs.get(("", name), []))


def _does(thing: object, sentence: str) -> str:
    """Return the first line of a docstring, or what a constant is: its sentence, else its value."""
    if inspect.isfunction(thing) or inspect.ismodule(thing):
        return first_line(thing)
    return plain(sentence or f"`{_MODULE.sub('', str(thing))}`")


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
                _fields_table(cls),
                table(("method", "description"), _methods(cls)),
            ],
        )
    )


def _written_doc(cls: type) -> str:
    """Return the docstring, unless Python made it of the fields."""
    made = dataclasses.is_dataclass(cls) and (cls.__doc__ or "").startswith(f"{cls.__name__}(")
    return "" if made else doc_of(cls)


def _fields_table(cls: type) -> str:
    """Return the table of the fields, without a column of sentences where there are none."""
    rows = list(_fields(cls))
    if any(sentence for *_, sentence in rows):
        return table(("field", "type", "description"), rows)
    return table(("field", "type"), [row[:2] for row in rows])


def _fields(cls: type) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of a class, those of all parts of its kind too."""
    analyzed = ModuleAnalyzer.for_module(cls.__module__)
    said = analyzed.find_attr_docs()
    model = getattr(cls, "__pydantic_fields__", {})
    kinds = get_type_hints(cls)  # without what is said of a value beyond its type
    for name in inspect.get_annotations(cls):
        if not name.startswith("_") and name != "kind":
            field = model.get(name)
            holds = _MODULE.sub("", inspect.formatannotation(kinds[name]))
            doc = " ".join(said.get((cls.__name__, name), []))
            if not doc and get_origin(kinds[name]) is ClassVar:
                continue  # a constant of the class, which its docstring describes
            holds = _OPTIONAL.sub(r"\1 | None", holds)
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
    text = re.sub(r": '([^']+)'", r": \1", text)  # a type that is imported with its first use
    return _MODULE.sub("", f"{name}{text}").replace("collections.abc.", "").replace("~", "")
