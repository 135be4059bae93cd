"""The command line: a table of commands, each imported only when it is called."""

import errno
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import FrameType
from typing import Any

import click

_COMMANDS = {
    "new": "Write a suite to start from.",
    "check": "Say what is wrong with suites, and what they need that is not here.",
    "plan": "Show what a run would measure, in which order, and how long it would take.",
    "run": "Measure a suite on real processes, and report.",
    "report": "Form a result's summary and reports again, also for CI servers.",
    "compare": "Say what changed against an older result, or against several.",
    "history": "Show results over time, and where they changed.",
    "serve": "Start a server of a suite with its backends, and stay.",
    "clean": "List what benchforge has put on the disk, and remove it.",
    "validate": "Say whether result files can be true: what is in them, and what it means.",
    "calibrate": "Measure how loud this machine is, and what differences it can show.",
    "verify": "Compute a result again from its raw files, and compare every number.",
    "doctor": "Say what there is on this machine, and how fit it is to measure.",
    "plugins": "List parts, show one, check one of your own, or begin it.",
    "schema": "Print the JSON Schema of suites or of result files.",
}
_INTERRUPTED = 128


class Lazy(click.Group):
    """A group that lists its commands without importing them: each is a module of `package`."""

    def __init__(self, *words: Any, table: Mapping[str, str], package: str, **more: Any) -> None:
        super().__init__(*words, **more)
        self._table, self._package = table, package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self._table:
            return None
        command: click.Command = import_module(f"{self._package}.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a command and its words. Raises UsageError that names what there is."""
        if args and args[0] not in self._table and not args[0].startswith("-"):
            names = ", ".join(self._table)
            raise click.UsageError(f"no command {args[0]!r}; there are: {names}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._table.items()))


class Interrupted(BaseException):
    """A signal asked us to end; not an Exception, so that nothing on the way takes it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = _INTERRUPTED + number


_received: list[Interrupted] = []


def ends_on_signals() -> None:
    """Turn INT, TERM and HUP into Interrupted, once: what follows is the cleaning up.

    Not one that is ignored already: nohup and a shell's background ask for that.
    """

    def interrupted(number: int, frame: FrameType | None) -> None:
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(one, signal.SIG_IGN)
        _received.append(Interrupted(number))
        raise _received[0]

    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, interrupted)


def received() -> Interrupted | None:
    """Return what a signal raised, also where it became another error on its way.

    C code that calls Python may tell every exception in its own words: pydantic does.
    """
    return _received[0] if _received else None


@click.group(
    cls=Lazy,
    table=_COMMANDS,
    package=__name__,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="benchforge", message="%(prog)s %(version)s")
def group() -> None:
    """Benchmarks as code that people can trust."""


def main() -> None:
    """Run the command of this process's words, and end with its exit code."""
    ends_on_signals()
    _opens_closed_streams()
    sys.exit(called())


def called(words: Sequence[str] | None = None) -> int:
    """Run a command; whatever a user can cause ends in a line, a hint and the exit code."""
    try:
        code = group(None if words is None else list(words), "benchforge", standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except Interrupted as error:
        code = _ended(error)
    except (KeyboardInterrupt, click.Abort):
        code = _INTERRUPTED + signal.SIGINT
    except Exception as error:  # noqa: BLE001 - what is not ours is raised again
        signalled = received()
        code = _told(error) if signalled is None else _ended(signalled)
    return code if isinstance(code, int) else 0


def _ended(interrupted: Interrupted) -> int:
    click.echo("interrupted: trials that ended are kept, nothing else is", err=True)
    return interrupted.exit_code


def _opens_closed_streams() -> None:
    """A stream that the caller closed is None, which everything that prints would stumble over."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115 - open to our end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115


def _told(error: Exception) -> int:
    from benchforge.errors import BenchforgeError  # noqa: PLC0415 - --help imports click alone

    if isinstance(error, BrokenPipeError):  # the reader of our output left, as `head` does
        sys.stderr.close()
        return 0
    if isinstance(error, OSError):
        error = _of_the_system(error)
    if not isinstance(error, BenchforgeError):
        from benchforge.run.blame import blamed  # noqa: PLC0415 - as above

        if (fault := blamed(error)) is None:
            raise error
        error = fault
    click.echo(error.text(), err=True)
    return error.exit_code


def _of_the_system(error: OSError) -> Exception:
    """Return what a user has to hear of an error that nobody awaited; itself where it is a fault.

    --help to a full disk is one, and a folder that somebody removed while a shell was in it.
    """
    from benchforge.cli.say import away  # noqa: PLC0415 - --help imports click alone
    from benchforge.errors import CannotKeep, Unusable  # noqa: PLC0415

    if error.errno == errno.ENOSPC:
        away(sys.stdout)  # it may hold what cannot be written
        return CannotKeep(str(error.strerror), "free some space")
    if isinstance(error, FileNotFoundError) and not _somewhere():
        return Unusable("the folder that this is called in was removed", "go to one that is there")
    return error


def _somewhere() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - to ask is all
    except FileNotFoundError:
        return False
    return True
