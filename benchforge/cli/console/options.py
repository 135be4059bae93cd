"""Options of commands: each command declares its own once, as the fields of a record."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from benchforge.errors import Unusable
from benchforge.suite.toml.built_in import brought, named

Options = TypeVar("Options")
Lock = Literal["no-wait", "without"] | None
"Reaction to another process that has the machine's lock; None to wait for it."


class AnyPath(click.Path):
    """A path that may exist or not, if the system can tell which."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)  # whoever reads it says why it cannot

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises Unusable where it is too long, or leads through a closed folder.

        A later look for it would end in a traceback.
        """
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            raise Unusable(f"{path}: {error.strerror}", "name another path") from error
        return path


class SuiteFile(AnyPath):
    """A suite: its file, or the name of one that benchforge brings."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the file. Raises Unusable as AnyPath does."""
        return named(super().convert(value, param, ctx))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so, then all files."""
        names = [CompletionItem(name) for name in brought() if name.startswith(incomplete)]
        return [*names, *super().shell_complete(ctx, param, incomplete)]


def setting(text: str) -> tuple[str, str]:
    """Return path and value of PATH=VALUE. Raises Unusable where there is no `=`."""
    path, equals, value = text.partition("=")
    if not equals:
        hint = "write it like --set servers.django.workers=2"
        raise Unusable(f"--set {path}: no '=' in it", hint)
    return path, value


PATH = AnyPath()


def option(*words: str, **attributes: Any) -> Any:
    """Declare a field as an option of its name, or of words such as "--json"; `+` joins flags."""
    return ((click.Option, words, attributes),)


def argument(**attributes: Any) -> Any:
    """Declare a field of a record as an argument, which is required if it has no default."""
    return ((click.Argument, (), attributes),)


def click_command(
    name: str, record: type[Options]
) -> Callable[[Callable[[Options], int | None]], click.Command]:
    """Return a decorator: a command takes the fields of `record`, and its function the record.

    The function imports what it needs when it runs, so that help needs click alone.
    """
    frozen = dataclass(frozen=True)(record)

    def declared(run: Callable[[Options], int | None]) -> click.Command:
        @wraps(run)
        def called(**words: Any) -> int | None:
            return run(frozen(**words))

        return click.command(name, params=[*_parameters(frozen)])(called)

    return declared


def _parameters(record: Any) -> Iterator[click.Parameter]:
    """Yield the options of a record. Field types make flags, paths and repeated options."""
    for field in fields(record):
        repeated, types = get_origin(field.type) is tuple, {field.type, *get_args(field.type)}
        for kind, words, attributes in getattr(record, field.name):
            implied: dict[str, Any] = {"type": PATH} if Path in types else {}
            names = [field.name, *words]
            if kind is click.Argument:
                implied |= {"nargs": -1} if repeated else {}
            elif repeated:
                implied["multiple"] = True
            elif field.type is bool:
                implied["is_flag"] = True
            if kind is click.Option:
                implied["show_default"] = bool(attributes.get("default"))
                names += [] if words else [f"--{field.name.replace('_', '-')}"]
            yield kind(names, **{**implied, **attributes})


PROFILE = option(metavar="NAME", help="Apply [profiles.NAME] of the suite.")
ONE_PROFILE = option(metavar="NAME", help="Check only with [profiles.NAME], not with each profile.")
SETTINGS = option(
    "--set",
    metavar="PATH=VALUE",
    type=setting,
    help="Change a value of the suite, such as repeat.blocks=10; repeatable.",
)
AS_JSON = option("--json", help="Print JSON instead of text.")
DETAILS = option(help="Print all numbers, claims and findings instead of one screen.")
HTML_PAGE = option(
    "--html",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write a page with charts to this file.",
)
RESULTS = option(
    *("-o", "--output"),
    default=Path("results"),
    help="Directory in which the result folder is created.",
)
MACHINE_LOCK = option(
    "--no-wait",
    flag_value="no-wait",
    help="End with exit code 4 if another process measures on this machine.",
) + option(
    "--without-lock",
    flag_value="without",
    help="Measure although another process measures: the result says so.",
)


def only(verb: str) -> Any:
    """Declare the option that names scenarios, for a command that does something with them."""
    return option(metavar="SCENARIO", help=f"{verb} these scenarios only.")
