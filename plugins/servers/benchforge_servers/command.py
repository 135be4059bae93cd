"""Any program as a server."""

import re
from collections.abc import Iterable
from string import Formatter
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from benchforge.plugin import BenchforgeError, Command, Need, Server, Site, hookimpl

_PLAIN = ("address", "port", "url")
_OF_BACKEND = re.compile(r"backends\.[^.]+\.[^.]+")


def _placeholders(text: str) -> list[str]:
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
    _placeholders(text)
    return text


Fillable = Annotated[str, AfterValidator(_fillable)]
"A text with placeholders."


class CommandServer(Server):
    """A program of any kind, told by its words or its environment where to listen.

    {port}, {address}, {url} and {backends.<label>.<name>} are filled in, in the words and in the
    environment; a plain brace is written twice. It is a list of words: no shell reads it. A
    program with a slash in its name starts at the suite's folder, and it works in `directory`.
    """

    name: ClassVar[str] = "command"

    argv: list[Fillable] = Field(alias="command", min_length=1)
    "The program and its words."
    directory: str | None = None
    "Where it works; starts at the suite's folder, which it is without it."
    environment: dict[str, Fillable] = Field(default_factory=dict)
    "Added to what the backends give, such as DATABASE_URL."

    def needs(self) -> Iterable[Need]:
        """Return the program, unless its name is filled in later."""
        program = self.argv[0]
        if _placeholders(program):
            return []
        if "/" in program:
            return [Need(program, "correct its path, or make it executable")]
        return [Need(program, "install it, or put its folder on PATH")]

    def command(self, site: Site) -> Command | None:
        """Return the command. Raises BenchforgeError when a backend does not give what it names."""
        program, *words = (_filled(word, site) for word in self.argv)
        if "/" in program:
            program = str(site.suite_folder.absolute() / program)
        else:
            program = str(site.programs.get(program, program))
        environment = {name: _filled(text, site) for name, text in self.environment.items()}
        return Command(
            *(program, *words),
            environment=site.environment(environment),
            folder=site.suite_folder.absolute() / (self.directory or ""),
        )


def _filled(text: str, site: Site) -> str:
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


@hookimpl
def benchforge_parts() -> list[type[Server]]:
    """Bring the server."""
    return [CommandServer]
