"""Errors that a user can cause: a message with place and cause, a hint, and an exit code."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar, Literal


class BenchforgeError(Exception):
    """An error with a message that names place and cause, and a hint what to do.

    `str(error)` is the message; `hint` may be empty; `exit_code` is the command's exit code.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def text(self) -> str:
        """Return the lines to print."""
        return f"error: {self.message}" + (f"\nhint: {self.hint}" if self.hint else "")


class InvalidFile(BenchforgeError):
    """A result file contradicts itself or its form."""

    exit_code = 1


class Unusable(BenchforgeError):
    """The suite, the command line or a file cannot be used."""

    exit_code = 2


class ProgramMissing(BenchforgeError):
    """A program or a package that the suite needs is missing."""

    exit_code = 3


class NoAnswer(BenchforgeError):
    """A question has no believable answer."""

    exit_code = 4


class TrialFailed(NoAnswer):
    """One trial could not be measured; it is kept, with this as its reason.

    `stage` is prepare, start, ask, drive or read; `log` has the last lines of the process.
    """

    about: Literal["behaviour", "apparatus"] = "behaviour"
    broken = False
    "True if the server answered wrongly, or ended."

    def __init__(self, stage: str, message: str, hint: str = "", log: str = "") -> None:
        super().__init__(message, hint)
        self.stage = stage
        self.log = log


class ServerBroken(TrialFailed):
    """The server answered wrongly, not at all, or ended: neither load tool, time nor machine."""

    broken = True


class LaunchLost(TrialFailed):
    """Servers could not take turns this time: another launch may do better, with longer slices."""

    about: Literal["behaviour", "apparatus"] = "apparatus"


class KeeperGone(TrialFailed):
    """The process that keeps the trial's processes ended, and they with it: measured again."""

    about: Literal["behaviour", "apparatus"] = "apparatus"

    def __init__(
        self,
        event: str = "ended, and they with it",
        hint: str = "somebody killed it, or memory ran out (dmesg says so)",
    ) -> None:
        super().__init__("start", f"the process that keeps the trial's processes {event}", hint)


class KeeperSilent(KeeperGone):
    """The keeper does not answer: it is frozen, or somebody stopped or traces it.

    `by_the_trial`: one of the trial's own processes does, so no other attempt helps.
    """

    def __init__(self, reason: str, *, by_the_trial: bool = False) -> None:
        super().__init__(f"does not answer: {reason}", "let it run, and measure again")
        if by_the_trial:
            self.about = "behaviour"
            self.hint = "run benchforge as an ordinary user, in namespaces: nobody traces it there"


class OutputDamaged(BenchforgeError):
    """A tool's output lacks something that benchforge needs: the trial has no reading.

    `about` is behaviour where the server did that to the load tool: no other attempt follows.
    """

    exit_code = 4
    about: Literal["behaviour", "apparatus"] = "apparatus"


class CannotKeep(BenchforgeError):
    """The results cannot be written."""

    exit_code = 5


@contextmanager
def can_write(place: object, hint: str) -> Iterator[None]:
    """Raise CannotKeep if the system refuses to write at a place, or to a file in it."""
    try:
        yield
    except OSError as error:
        raise CannotKeep(f"{error.filename or place}: {error.strerror}", hint) from error
