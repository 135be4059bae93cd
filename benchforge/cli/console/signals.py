"""The running command: its words, signals that end it, and memory or descriptors that ran out."""

import errno
import os
import signal
from collections.abc import Sequence
from types import FrameType

INTERRUPTED = 128
"Exit code of a command that a signal ended, without the number of the signal."

_SHORT = "failed to map", "error return without", "returned NULL without"
"Words of the dynamic linker and the interpreter when memory ran out."


class Interrupted(BaseException):
    """A signal asked us to end; not an Exception, so that nothing on the way takes it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = INTERRUPTED + number


_received: list[Interrupted] = []
_words: list[str] = []
"Words of the running command, which may hold secrets."


def begin(words: Sequence[str]) -> None:
    """Note the words of the command that begins."""
    _words[:] = words


def command_line() -> tuple[str, ...]:
    """Return the words of the command that runs."""
    return tuple(_words)


def ends_on_signals() -> None:
    """Turn INT, TERM and HUP into Interrupted, once; not one that nohup or a shell ignores."""

    def interrupted(number: int, frame: FrameType | None) -> None:
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signal_number, signal.SIG_IGN)
        _received.append(Interrupted(number))
        raise _received[0]

    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signal_number) is not signal.SIG_IGN:
            signal.signal(signal_number, interrupted)


def received() -> Interrupted | None:
    """Return the error that a signal raised, also where it became another one on its way.

    C code that calls Python may tell every exception in its own words: pydantic does.
    """
    return _received[0] if _received else None


def used_up(error: BaseException | None) -> str:
    """Return the lines for memory or descriptors that ran out, as an error or its causes say."""
    while error is not None:
        number = getattr(error, "errno", None)
        text = str(error) if isinstance(error, ImportError | SystemError) else ""
        ran_out = any(words in text for words in _SHORT)
        if isinstance(error, MemoryError) or number == errno.ENOMEM or ran_out:
            return "memory ran out\nhint: raise the limit (ulimit -v), or end other programs"
        if number in {errno.EMFILE, errno.ENFILE} or text.endswith("Error 24"):
            says = f"{os.strerror(number or errno.EMFILE)}: all descriptors are in use"
            return f"{says}\nhint: raise the limit (ulimit -n 1024), or end other programs"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return ""
