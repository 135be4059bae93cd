"""Texts of a part's options with placeholders: {port}, {backends.<label>.<name>}."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from string import Formatter
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from benchforge.errors import BenchforgeError
from benchforge.parts.site import Site

_PLAIN = ("address", "port", "python", "url")
_OF_BACKEND = re.compile(r"backends\.([^.]+)\.([^.]+)")
_THERE_ARE = "available: {address}, {port}, {python}, {url} and {backends.<label>.<name>}"
_TWICE = "write a plain brace twice"

_Path = tuple[str | int, ...]


class WrongOption(ValueError):
    """A wrong option: what is wrong, what to do, and which options are concerned.

    Errors point at the first of `options`, as TOML writes them. `options` lists all that were
    checked, so errors of other options are reported as well.
    """

    def __init__(self, message: str, *options: str, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.options = options
        self.hint = hint


class BackendReference(NamedTuple):
    """A backend's value in a text: the backend's label, and the value's name."""

    backend: str
    name: str


class Fillable(str):
    """A text with the placeholders {address}, {port}, {python}, {url}, {backends.<label>.<name>}.

    benchforge checks references to backends when it reads a suite. Write a plain brace twice.
    """

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the text. Raises WrongOption for an unknown placeholder."""
        fillable = cls(text)
        try:
            names = list(fillable.placeholders())
        except ValueError as error:
            raise WrongOption("a single brace", hint=f"{_THERE_ARE}; {_TWICE}") from error
        for name in names:
            if name not in _PLAIN and not _OF_BACKEND.fullmatch(name):
                near = get_close_matches(name, _PLAIN, 1)
                guess = f"did you mean {{{near[0]}}}? " if near else ""
                hint = f"{guess}{_THERE_ARE}; {_TWICE}"
                raise WrongOption(f"no placeholder {{{name}}}", hint=hint)
        return fillable

    def placeholders(self) -> Iterator[str]:
        """Yield the names in braces. Raises ValueError for a single brace."""
        for _, name, spec, conversion in Formatter().parse(self):
            if name is not None:
                yield name + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")

    def taken(self) -> Iterator[BackendReference]:
        """Yield the references to backends."""
        for name in self.placeholders():
            if match := _OF_BACKEND.fullmatch(name):
                yield BackendReference(match[1], match[2])

    def filled(self, site: Site) -> str:
        """Return the text with its values. Raises BenchforgeError for a missing one."""
        values = {"address": site.address, "port": str(site.port), "url": site.url}
        values["python"] = str(site.python)
        return "".join(
            literal + ("" if name is None else values.get(name) or _given(name, site))
            for literal, name, _, _ in Formatter().parse(self)
        )

    @classmethod
    def __get_pydantic_core_schema__(cls, kind: type[Any], ask: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls.parse, core_schema.str_schema())


def fillables(part: BaseModel) -> Iterator[tuple[_Path, Fillable]]:
    """Yield each such text of a part, with the option and the keys that lead to it."""
    for name, value in part:
        if isinstance(value, Fillable | dict | list | tuple):
            for path, text in _within((), value):
                yield (type(part).model_fields[name].alias or name, *path), text


def _within(path: _Path, value: object) -> Iterator[tuple[_Path, Fillable]]:
    if isinstance(value, Fillable):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _within((*path, key), inner)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _within((*path, number), inner)


def _given(name: str, site: Site) -> str:
    _, label, key = name.split(".")
    if label not in site.backends:
        there_are = ", ".join(site.backends) or "none"
        raise BenchforgeError(
            f"servers.{site.label}: {{{name}}}: the scenario has no backend {label!r}",
            f"name it in the scenario's backends, which are: {there_are}",
        )
    if key not in site.backends[label]:
        raise BenchforgeError(
            f"servers.{site.label}: {{{name}}}: backend {label!r} gives no {key!r}",
            f"it gives: {', '.join(site.backends[label]) or 'nothing'}",
        )
    return site.backends[label][key]
