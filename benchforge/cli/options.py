"""What several commands take alike."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from benchforge.errors import Unusable
from benchforge.suite.toml.built_in import brought, named

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class AnyPath(click.Path):
    """A path that may be there or not, and of which the system can at least tell that."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, readable=False)  # whoever reads it says why it cannot

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises Unusable where it is too long, or leads through a closed folder.

        To ask whether it is there would be a traceback, wherever that is asked.
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
        """Return the names that begin so, then what a shell knows of files."""
        names = [CompletionItem(name) for name in brought() if name.startswith(incomplete)]
        return [*names, *super().shell_complete(ctx, param, incomplete)]


def setting(text: str) -> tuple[str, str]:
    """Return path and value of PATH=VALUE. Raises Unusable where there is no `=`."""
    path, equals, value = text.partition("=")
    if not equals:
        hint = "write it like --set servers.django.workers=2"
        raise Unusable(f"--set {path}: no '=' in it", hint)
    return path, value


def share(text: str) -> float:
    """Return a share from 0 to below 1, written as 0.03 or 3%. Raises Unusable for what is none."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise Unusable(f"--least {text}: not a share", 'write it like "3%" or 0.03')
    return value


PATH = AnyPath()
PROFILE = click.option("--profile", metavar="NAME", help="Apply [profiles.NAME] of the suite.")
ONE_PROFILE = click.option(
    "--profile", metavar="NAME", help="Check only with [profiles.NAME], not with each profile."
)
SETTINGS = click.option(
    *("--set", "settings"),
    metavar="PATH=VALUE",
    type=setting,
    multiple=True,
    help="Change a value of the suite, such as repeat.blocks=10; repeatable.",
)
LEAST = click.option(
    "--least",
    metavar="SHARE",
    type=share,
    default="3%",
    show_default=True,
    help="Ignore changes smaller than SHARE.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def lock_options(command: Decorated) -> Decorated:
    """Return a command that takes the machine's lock, with the options for not waiting for it."""
    without = click.option(
        "--without-lock",
        "machine_lock",
        flag_value="without",
        help="Measure although another process measures: the result says so.",
    )
    no_wait = click.option(
        "--no-wait",
        "machine_lock",
        flag_value="no-wait",
        help="End with exit code 4 if another process measures on this machine.",
    )
    return no_wait(without(command))


def only_option(verb: str) -> Callable[[Decorated], Decorated]:
    """Return the option that names scenarios, for a command that does something with them."""
    return click.option(
        "--only", metavar="SCENARIO", multiple=True, help=f"{verb} these scenarios only."
    )
