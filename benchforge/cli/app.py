"""The command line: a table of commands, each imported only when it is called.

A package may bring commands of its own: an entry point of the group `benchforge.commands` has a
command's name, and the module whose `command` it is.
"""

import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from benchforge.cli.console import signals
from benchforge.cli.console.lazy_group import Lazy
from benchforge.model.values.distribution import DISTRIBUTION, brings, entry_points, rivals

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_FOLDERS = {
    "measure.duel": "Compare servers that are given as commands or URLs, without a suite.",
    "measure.gate": "Check whether a change makes servers slower than a base commit: for CI.",
    "suites.new": "Write a sample suite.",
    "suites.check": "Check suites for errors, missing programs and missing packages.",
    "suites.plan": "Show what a run would measure, in which order, and how long it would take.",
    "measure.run": "Measure a suite and report the results.",
    "results.report": "Regenerate a result's summary and reports, including CI formats.",
    "results.compare": "Compare a result with one or more older results.",
    "results.history": "Show results over time, and where they changed.",
    "measure.serve": "Start one server of a suite, with its backends, in the foreground.",
    "results.audit": "Check results of other tools for numbers that cannot be true.",
    "machine.clean": "List the files that benchforge keeps on the disk, and remove them.",
    "results.validate": "Check that the files of results are complete and agree in form.",
    "machine.calibrate": "Measure the noise of this machine, and which differences it can show.",
    "results.verify": "Recompute every number of a result from its raw files.",
    "results.sign": "Sign a result with your ssh key.",
    "machine.doctor": "Check which programs this machine has and whether it is fit for "
    "benchmarking.",
    "plugins": "List, show, check or scaffold plugins.",
    "suites.schema": "Print the JSON Schema of suites or of result files.",
}
"Each command: its folder below this one, and the sentence that `--help` prints."
_COMMANDS = {path.rpartition(".")[2]: sentence for path, sentence in _FOLDERS.items()}
GROUP = "benchforge.commands"


class Extensible(Lazy):
    """Our own commands, and those that packages bring by their entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the table, then of all others."""
        return list(dict.fromkeys((*super().list_commands(ctx), *sorted(_brought()))))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command. Raises UsageError where a package's object is none."""
        if cmd_name in self._table:
            return super().get_command(ctx, cmd_name)
        if (point := _brought().get(cmd_name)) is None:
            return None
        where = f"command {cmd_name} ({point.value})"
        try:
            command = point.load().command
        except (Exception, SystemExit) as error:  # it is somebody else's code
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise click.UsageError(f"{where} cannot be imported: {reason}", ctx) from error
        if not isinstance(command, click.Command):
            raise click.UsageError(f"{where} is no click command", ctx)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table; of other commands their names, since they are not imported."""
        super().format_commands(ctx, formatter)
        if more := [name for name in self.list_commands(ctx) if name not in self._table]:
            with formatter.section("More commands"):
                formatter.write_text(", ".join(more))


def _brought() -> dict[str, "EntryPoint"]:
    return {point.name: point for point in entry_points(GROUP)} if brings(GROUP) else {}


@click.group(
    cls=Extensible,
    table={f"{folder}.command": sentence for folder, sentence in _FOLDERS.items()},
    package=__package__,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name=DISTRIBUTION, message="%(prog)s %(version)s")
def group() -> None:
    """Compare web servers, frameworks and apps over HTTP.

    To start, with two commands: benchforge duel --help; with a suite: benchforge new suite bench
    """


def main() -> None:
    """Run the command of this process's words, and end with its exit code."""
    signals.ends_on_signals()
    # A stream that the caller closed is None, which everything that prints would stumble over.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 - open to our end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115
    sys.excepthook = _crashed
    sys.exit(called())


def called(words: Sequence[str] | None = None) -> int:
    """Run a command; whatever a user can cause ends in a line, a hint and the exit code."""
    signals.begin(sys.argv[1:] if words is None else words)
    try:
        if words is None and _COMMANDS.keys() & sys.argv[1:2]:
            _tell_of_rivals()
        code = group(None if words is None else list(words), "benchforge", standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        from benchforge.cli.console.say import printable  # noqa: PLC0415 - --help imports click alone

        error.show(buffer := io.StringIO())
        click.echo(printable(buffer.getvalue()), nl=False, err=True)
        code = error.exit_code
    except signals.Interrupted as error:
        code = _ended(error)
    except (KeyboardInterrupt, click.Abort):
        code = signals.INTERRUPTED + signal.SIGINT
    except Exception as error:  # noqa: BLE001 - what is not ours is raised again
        signalled = signals.received()
        try:
            code = _show_error(error) if signalled is None else _ended(signalled)
        except Exception as second:
            if not (lines := signals.used_up(second)):
                raise
            code = _show_used_up(lines)
    return code if isinstance(code, int) else 0


def _tell_of_rivals() -> None:
    """Warn of another distribution of this package, which overwrites files of ours."""
    for rival in rivals():
        from benchforge.cli.console.say import warn  # noqa: PLC0415 - --help imports click alone

        twice = f"{rival} installs a package named benchforge, too"
        warn(f"{twice}; uninstall both, then install {DISTRIBUTION} again")


def _ended(interrupted: signals.Interrupted) -> int:
    click.echo("interrupted: finished trials are kept, a trial under way is not", err=True)
    return interrupted.exit_code


def _crashed(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Print a fault of our own, without secrets."""
    from traceback import format_exception  # noqa: PLC0415 - seldom needed

    from benchforge.cli.console.say import printable  # noqa: PLC0415 - --help imports click alone

    click.echo(printable("".join(format_exception(kind, error, where))), err=True, nl=False)


_reserve = [bytearray(1 << 20)]
"Memory for the sentence that memory ran out."


def _show_used_up(lines: str) -> int:
    click.echo(f"error: {lines}", err=True)
    return 4


def _show_error(error: Exception) -> int:
    _reserve.clear()
    # Before another import, which would fail for the same reason.
    if lines := signals.used_up(error):
        return _show_used_up(lines)
    from benchforge.errors import BenchforgeError  # noqa: PLC0415 - --help imports click alone

    if isinstance(error, BrokenPipeError):  # the reader of our output left, as `head` does
        sys.stderr.close()
        return 0
    if isinstance(error, OSError):
        error = _of_the_system(error)
    if not isinstance(error, BenchforgeError):
        from benchforge.parts.fault import blamed  # noqa: PLC0415 - as above

        if (fault := blamed(error)) is None:
            raise error
        error = fault
    from benchforge.cli.console.say import printable  # noqa: PLC0415 - as above

    click.echo(printable(error.text()), err=True)
    return error.exit_code


def _of_the_system(error: OSError) -> Exception:
    """Return the error for a user, of an OSError such as a full disk; itself for our own fault."""
    from benchforge.cli.console.say import away  # noqa: PLC0415 - --help imports click alone
    from benchforge.errors import CannotKeep, Unusable  # noqa: PLC0415

    number = error.errno
    file = f"{error.filename}: " if error.filename else ""
    if number in {errno.ENOSPC, errno.EDQUOT}:
        away(sys.stdout)  # it may hold what cannot be written
        return CannotKeep(f"{file}{error.strerror}", "free some space")
    if number == errno.EROFS:
        return CannotKeep(f"{file}{error.strerror}", "choose a folder that can be written")
    if isinstance(error, FileNotFoundError) and not _somewhere():
        return Unusable("the current folder was removed", "change to an existing folder")
    return error


def _somewhere() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - to ask is all
    except FileNotFoundError:
        return False
    return True
