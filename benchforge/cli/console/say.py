"""What is said on stdout and stderr: nobody has to listen, and a run does not end for that."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TextIO

import click

from benchforge.cli.console.words import command_line
from benchforge.errors import CannotKeep
from benchforge.text import safe

_secrets: set[str] = set()


def keep_secret(secrets: Iterable[str]) -> None:
    """Print none of these from now on, whatever it stands in."""
    _secrets.update(secrets)


def without_secrets(text: str) -> str:
    """Return a text as it may be printed."""
    words = command_line()
    if not _secrets and not words:
        return text
    from benchforge.suite.secrets import redact  # noqa: PLC0415 - --help imports click alone

    return redact(_of_words(words)(text), _secrets)


@lru_cache(maxsize=1)
def _of_words(words: tuple[str, ...]) -> Callable[[str], str]:
    """Return what hides the secrets of a command line; a few characters are none."""
    from benchforge.suite.secrets import SHOWN, hiding, secrets_of_words  # noqa: PLC0415 - as above

    return hiding({}, (secret for secret in secrets_of_words(words) if len(secret) >= SHOWN))


def printable(text: str, escape: Callable[[str], str] = safe.text) -> str:
    """Return what may go to a terminal: no secret, and no character that does something to it."""
    return escape(without_secrets(text))


def say(text: str) -> None:
    """Print a line on stderr; where it cannot be printed, nothing more is said there."""
    try:
        click.echo(printable(text), err=True)
    except OSError:
        away(sys.stderr)


def warn(text: str) -> None:
    """Say what somebody should know, though it keeps nothing from going on."""
    say(f"warning: {text}")


def show(text: str, *, painted: bool = False) -> None:
    """Print a result on stdout; who left, as `head` does or a closed terminal, has seen enough.

    What is `painted` has colours of ours; all else that could do something to a terminal is shown.

    Raises CannotKeep when stdout is a file that cannot be written.
    """
    try:
        click.echo(printable(text, safe.painted if painted else safe.text))
    except OSError as error:
        reader_gone = isinstance(error, BrokenPipeError) or _hung_up(error)
        away(sys.stdout)
        if reader_gone:
            return
        reason = f"standard output cannot be written: {error.strerror}"
        raise CannotKeep(reason, "redirect it elsewhere; finished trials are kept") from error


def _hung_up(error: OSError) -> bool:
    """Whether stdout was a terminal that was closed."""
    return error.errno == errno.EIO and stat.S_ISCHR(os.fstat(1).st_mode)


def away(stream: TextIO | None) -> None:
    """Lead a stream to nowhere: what it still buffers would fail again when we end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1 if stream is sys.stdout else 2)
        os.close(nowhere)
