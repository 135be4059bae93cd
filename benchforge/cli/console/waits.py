"""What a command says while another one measures."""

import sys

from benchforge.cli.console.say import away, printable, say
from benchforge.run.sandbox.machine_lock import REPORTS_S, Wait
from benchforge.text.readable import spoken

WAITING = "waiting until it ends"
_LINE_ABOVE = "\x1b[1A\x1b[K"


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
