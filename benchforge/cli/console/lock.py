"""The machine's lock of a run: wait for it, end without it, or measure without it."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from benchforge.cli.console.options import Lock
from benchforge.cli.console.say import away, printable, say, warn
from benchforge.errors import NoAnswer
from benchforge.run.sandbox.machine_lock import REPORTS_S, Wait, measuring
from benchforge.text.readable import spoken

WAITING = "waiting until it ends"
_LINE_ABOVE = "\x1b[1A\x1b[K"


@contextlib.contextmanager
def locked(lock: Lock, tell: Callable[[str], None] = warn) -> Iterator[str]:
    """Hold the machine's lock, or give and tell who has it. Raises NoAnswer for "no-wait"."""

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


def waits(wait: Wait) -> None:
    """Say which process measures, and that this one waits; on a terminal also for how long."""
    if not wait.seconds:
        began = f"; {wait.began}" if wait.began else ""
        say(f"{wait.in_words}: {WAITING} (Ctrl-C stops waiting){began}")
    elif sys.stderr.isatty():
        try:
            sys.stderr.write(_LINE_ABOVE if wait.seconds > REPORTS_S else "")
            sys.stderr.write(printable(f"waiting for {spoken(wait.seconds)}\n"))
            sys.stderr.flush()
        except OSError:  # nobody reads it any more: the wait goes on
            away(sys.stderr)
