"""Words of the running command, which may hold secrets."""

from collections.abc import Sequence

_words: list[str] = []


def command_line() -> tuple[str, ...]:
    """Return the words of the command that runs."""
    return tuple(_words)


def begin(words: Sequence[str]) -> None:
    """Note the words of the command that begins."""
    _words[:] = words
