"""The command line: every command as click knows it."""

import inspect
from collections.abc import Iterator

import click

from benchforge.cli.app import group
from docs.generate.text import page_of, plain, table


def page() -> str:
    """Return the page."""
    return page_of(
        "Command line",
        plain(inspect.cleandoc(str(group.help))),
        "Commands print results to standard output, and progress and errors to standard error. "
        "The [exit codes](exit-codes.md) have the same meaning for all commands.",
        *(_section(context) for context in commands()),
    )


def commands() -> Iterator[click.Context]:
    """Yield a context for each command, those of groups too."""
    return _below(click.Context(group, info_name="benchforge"))


def _below(above: click.Context) -> Iterator[click.Context]:
    command = above.command
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(above):
        found = command.get_command(above, name)
        if found is not None:
            context = click.Context(found, info_name=name, parent=above)
            yield context
            yield from _below(context)


def _section(context: click.Context) -> str:
    told = inspect.cleandoc(context.command.help or "")
    if not told:
        raise ValueError(f"{context.command_path} has no help")
    usage = context.command.get_usage(context).partition(": ")[2]
    rows = [_row(one, context) for one in context.command.get_params(context) if _is_option(one)]
    return "\n\n".join(
        filter(
            None,
            (
                f"## {context.command_path}",
                f"```text\n{' '.join(usage.split())}\n```",
                plain(told),
                table(("option", "description"), rows),
            ),
        )
    )


def _is_option(one: click.Parameter) -> bool:
    return isinstance(one, click.Option) and not one.hidden and "--help" not in one.opts


def _row(one: click.Parameter, context: click.Context) -> tuple[str, str]:
    """Return the line of an option. Raises ValueError for one without help."""
    record = one.get_help_record(context)
    if record is None or not record[1]:
        raise ValueError(f"{context.command_path} {one.opts[0]} has no help")
    return f"`{record[0]}`", plain(record[1])
