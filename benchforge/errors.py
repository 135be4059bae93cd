"""Every error that a user can cause: where and what, what to do next, and the exit code."""

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
    """A result file says something that cannot be."""

    exit_code = 1


class Unusable(BenchforgeError):
    """The suite, the command line or a file cannot be used."""

    exit_code = 2


class ProgramMissing(BenchforgeError):
    """A program or a package that the suite needs is not there."""

    exit_code = 3


class NoAnswer(BenchforgeError):
    """Something that was asked has no believable answer."""

    exit_code = 4


class TrialFailed(NoAnswer):
    """One trial could not be measured; it is kept, with this as its reason.

    `stage` says when: prepare, start, ask, drive, read.
    `log` holds the last lines of the process concerned, where there is one.
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
    """The process that keeps the trial's processes ended before its trial; they ended with it.

    Whoever kills it says nothing of what is measured: it is measured again.
    """

    about: Literal["behaviour", "apparatus"] = "apparatus"

    def __init__(self) -> None:
        super().__init__(
            "start",
            "the process that keeps the trial's processes ended, and they with it",
            "somebody killed it, or memory ran out (dmesg says so)",
        )


class KeeperSilent(KeeperGone):
    """The keeper does not answer: it is frozen, or somebody stopped or traces it.

    `by_the_trial` says that one of the trial's own processes does: no other attempt mends that.
    """

    def __init__(self, reason: str, *, by_the_trial: bool = False) -> None:
        super().__init__()
        self.message = f"the process that keeps the trial's processes does not answer: {reason}"
        self.hint = "let it run, and measure again"
        if by_the_trial:
            self.about = "behaviour"
            self.hint = (
                "run benchforge as an ordinary user, in namespaces: only so nobody may trace it"
            )


class OutputDamaged(BenchforgeError):
    """A tool's output lacks something that benchforge needs: the trial has no reading.

    `about` says whose doing that is: what the server did to a load tool is not tried again.
    """

    exit_code = 4
    about: Literal["behaviour", "apparatus"] = "apparatus"


class CannotKeep(BenchforgeError):
    """The results cannot be written."""

    exit_code = 5
