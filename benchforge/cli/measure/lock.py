"""The machine's lock as a run asks for it: wait for it, end without it, or measure without it."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Literal

from benchforge.cli.screen.say import warn
from benchforge.cli.screen.waits import waits
from benchforge.errors import NoAnswer
from benchforge.run.sandbox.machine_lock import Wait, measuring

Lock = Literal["wait", "no-wait", "without"]


class _HeldError(Exception):
    """Another process holds the lock, and the run goes on."""


@contextlib.contextmanager
def locked(lock: Lock) -> Iterator[str]:
    """Hold the machine's lock; give who has it instead where the run goes on without.

    Raises NoAnswer for "no-wait" where another has it.
    """
    with contextlib.ExitStack() as held:
        other = ""
        try:
            held.enter_context(measuring(waits if lock == "wait" else _raising(lock)))
        except _HeldError as error:
            other = str(error)
            warn(f"{other}: this run goes on without the lock")
        yield other


def _raising(lock: Lock) -> Callable[[Wait], None]:
    def report(wait: Wait) -> None:
        known = f"{wait.in_words} ({wait.began})" if wait.began else wait.in_words
        if lock == "without":
            raise _HeldError(known)
        hint = "leave --no-wait out, or add --without-lock: the result then says so"
        raise NoAnswer(f"{known}: nothing was measured", hint)

    return report
