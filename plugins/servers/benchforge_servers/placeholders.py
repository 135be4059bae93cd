"""Placeholders in the words and the environment of a server: {port}, {backends.<label>.<name>}."""

import re
from string import Formatter
from typing import Annotated

from pydantic import AfterValidator

from benchforge.plugin import BenchforgeError, Site

_PLAIN = ("address", "port", "url")
_OF_BACKEND = re.compile(r"backends\.[^.]+\.[^.]+")


def placeholders(text: str) -> list[str]:
    """Return what stands in braces. Raises ValueError for what is no placeholder of ours."""
    try:
        parsed = list(Formatter().parse(text))
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}; a plain brace is written twice") from error
    names: list[str] = []
    for _, name, spec, conversion in parsed:
        if name is None:
            continue
        if spec or conversion or not (name in _PLAIN or _OF_BACKEND.fullmatch(name)):
            raise ValueError(
                f"{text!r}: no placeholder {{{name}}}; there are {{address}}, {{port}}, {{url}} "
                "and {backends.<label>.<name>}; a plain brace is written twice"
            )
        names.append(name)
    return names


def _fillable(text: str) -> str:
    placeholders(text)
    return text


Fillable = Annotated[str, AfterValidator(_fillable)]
"A text with placeholders."


def filled(text: str, site: Site) -> str:
    """Return a text with its placeholders filled in. Raises BenchforgeError when one is empty."""
    values = {"address": site.address, "port": str(site.port), "url": site.url}
    return "".join(
        literal + ("" if name is None else values.get(name) or _given(name, site))
        for literal, name, _, _ in Formatter().parse(text)
    )


def _given(name: str, site: Site) -> str:
    """Return what a backend gives. Raises BenchforgeError when there is no such thing."""
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
