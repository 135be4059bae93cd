"""`benchforge plugins show`: options, needs and fields of a part."""

import inspect
import textwrap
from collections.abc import Iterator, Sequence

import click

from benchforge.cli.console.say import show
from benchforge.cli.plugins.options import options
from benchforge.cli.plugins.wanted import OPTION_VALUES, chosen, made, wanted
from benchforge.errors import Unusable
from benchforge.parts.command import Need
from benchforge.parts.kinds import Kind
from benchforge.parts.part import Driver, Loader, Metric, Part, Service
from benchforge.parts.registry import Registry
from benchforge.run.locate import locate, missing

WIDTH = 100


@click.command("show")
@click.argument("name")
@OPTION_VALUES
def command(name: str, settings: tuple[tuple[str, str], ...]) -> int:
    """Show the part NAME: its options, its needs and whether they are installed, its ports or unit.

    Exit codes: 0 shown; 2 there is no such part, or its plugin is broken.
    """
    registry = Registry()
    parts = wanted(registry, name)
    # Options are those of the first part: `--set` has no name of a part.
    first = _shown(registry, *parts[0], settings)
    show("\n\n".join([first, *(_shown(registry, *part, ()) for part in parts[1:])]))
    return 0


def _shown(registry: Registry, kind: Kind, name: str, settings: Sequence[tuple[str, str]]) -> str:
    cls = registry.part(kind, name)
    (origin,) = registry.origins(kind, name)
    distribution = f"{origin.distribution} {origin.version}: " if origin.distribution else ""
    blocks = [
        f"{kind} {name}, of {distribution}{origin.value}",
        inspect.getdoc(cls) or "It has no docstring.",
        "options\n" + ("\n".join(_options(cls)) or "  none"),
        "needs\n" + "\n".join(_needs(cls, settings)),
        "\n".join(_facts(cls)),
    ]
    return "\n\n".join(block for block in blocks if block)


def _options(cls: type[Part]) -> Iterator[str]:
    for option in options(cls):
        default = f", default {option.default}" if option.default else ""
        ends = ", required" if option.required else default
        yield f"  {option.name}: {option.type}{ends}"
        yield from textwrap.wrap(option.doc, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _needs(cls: type[Part], settings: Sequence[tuple[str, str]]) -> Iterator[str]:
    try:
        part = made(cls, chosen(settings))
    except Unusable as error:
        if settings:
            raise
        yield f"  depends on its options: {error.message}; {error.hint}"
        return
    needs = list(part.needs())
    if not needs:
        yield "  nothing"
    for need in needs:
        yield f"  {need.name}, a {need.kind}: {_there(need)}"


def _there(need: Need) -> str:
    debian = f" (Debian: {need.debian})" if need.debian else ""
    if missing([need]):
        return f"missing; {need.how}"
    where = locate(need.name) if need.kind == "program" else None
    return (f"{where}" if where else "there") + debian


def _facts(cls: type[Part]) -> Iterator[str]:
    if issubclass(cls, Service):
        yield f"ports: {', '.join(cls.ports) or 'none'}"
        yield f"stopped by: {cls.stop_signal.name}"
    if issubclass(cls, Metric):
        yield f"unit: {cls.unit}, {cls.better} is better"
    if issubclass(cls, Loader):
        by = "running it" if cls.proved == "run" else "recordings of what it printed"
        yield f"its parser is proved by {by}"
    if issubclass(cls, Driver):
        yield f"see what it would run: benchforge plugins check {cls.kind}-{cls.name}"
