"""The machine's lock as a run asks for it: wait for it, end without it, or measure without it."""

import contextlib
from collections.abc import Iterator
from typing import Literal

from benchforge.cli.screen.say import warn
from benchforge.cli.screen.waits import waits
from benchforge.errors import NoAnswer
from benchforge.run.sandbox.machine_lock import Wait, measuring

Lock = Literal["no-wait", "without"] | None
"What to do where another process has the lock; None to wait for it."


@contextlib.contextmanager
def locked(lock: Lock) -> Iterator[str]:
    """Hold the machine's lock; give who has it instead where the run goes on without.

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
            warn(f"{(other := error.message)}: this run goes on without the lock")
        yield other
