"""Signals that end a command, and what they raised."""

import signal
from types import FrameType

INTERRUPTED = 128
"Exit code of a command that a signal ended, without the number of the signal."


class Interrupted(BaseException):
    """A signal asked us to end; not an Exception, so that nothing on the way takes it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = INTERRUPTED + number


_received: list[Interrupted] = []


def ends_on_signals() -> None:
    """Turn INT, TERM and HUP into Interrupted, once: what follows is the cleaning up.

    Not one that is ignored already: nohup and a shell's background ask for that.
    """

    def interrupted(number: int, frame: FrameType | None) -> None:
        for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signal_number, signal.SIG_IGN)
        _received.append(Interrupted(number))
        raise _received[0]

    for signal_number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signal_number) is not signal.SIG_IGN:
            signal.signal(signal_number, interrupted)


def received() -> Interrupted | None:
    """Return what a signal raised, also where it became another error on its way.

    C code that calls Python may tell every exception in its own words: pydantic does.
    """
    return _received[0] if _received else None
