"""The machine's lock as a run asks for it: wait for it, end without it, or measure without it."""

import contextlib
from collections.abc import Callable, Iterator

from benchforge.cli.console.options import Lock
from benchforge.cli.console.say import warn
from benchforge.cli.console.waits import waits
from benchforge.errors import NoAnswer
from benchforge.run.sandbox.machine_lock import Wait, measuring


@contextlib.contextmanager
def locked(lock: Lock, tell: Callable[[str], None] = warn) -> Iterator[str]:
    """Hold the machine's lock; tell and give who has it instead where the run goes on without.

    Raises NoAnswer for "no-wait" where another has it.
    """

    def report(wait: Wait) -> None:
        if lock is None:
            return waits(wait)
        hint = "leave --no-wait out, or add --without-lock: the result then says so"
        raise NoAnswer(f"{wait.in_words} ({wait.began})", hint)

    with contextlib.ExitStack() as held:
        other = ""
        try:
            held.enter_context(measuring(report))
        except NoAnswer as error:
            if lock == "no-wait":
                raise
            tell(f"{(other := error.message)}: this run goes on without the lock")
        yield other
