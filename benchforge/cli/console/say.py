"""Output on stdout and stderr, of which a closed end does not end a run."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TextIO

import click

from benchforge.cli.console.signals import command_line
from benchforge.errors import CannotKeep
from benchforge.text import safe

_secrets: set[str] = set()


def keep_secret(secrets: Iterable[str]) -> None:
    """Print none of these secrets from now on."""
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
    """Return a function that hides the secrets of a command line, from SHOWN characters on."""
    from benchforge.suite.secrets import SHOWN, hiding, secrets_of_words  # noqa: PLC0415 - as above

    return hiding({}, (secret for secret in secrets_of_words(words) if len(secret) >= SHOWN))


def printable(text: str, escape: Callable[[str], str] = safe.text) -> str:
    """Return a text for a terminal, without secrets and active control characters."""
    return escape(without_secrets(text))


def say(text: str) -> None:
    """Print a line on stderr; after a failure nothing more is printed there."""
    try:
        click.echo(printable(text), err=True)
    except OSError:
        away(sys.stderr)


def warn(text: str) -> None:
    """Print a warning, which keeps nothing from going on."""
    say(f"warning: {text}")


def show(text: str, *, painted: bool = False) -> None:
    """Print a result on stdout; a reader that left, as `head` does, has seen enough.

    A `painted` text has colours of ours; all other control characters become visible. Raises
    CannotKeep when stdout is a file that cannot be written.
    """
    try:
        click.echo(printable(text, safe.painted if painted else safe.text))
    except OSError as error:
        hung_up = error.errno == errno.EIO and stat.S_ISCHR(os.fstat(1).st_mode)
        reader_gone = isinstance(error, BrokenPipeError) or hung_up  # a closed terminal
        away(sys.stdout)
        if reader_gone:
            return
        reason = f"standard output cannot be written: {error.strerror}"
        raise CannotKeep(reason, "redirect it elsewhere; finished trials are kept") from error


def away(stream: TextIO | None) -> None:
    """Lead a stream to nowhere: its buffer would fail again at the end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1 if stream is sys.stdout else 2)
        os.close(nowhere)
