"""Commands, tasks whose output is judged, and needs that can be missing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from benchforge.parts.content import text_of

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, init=False)
class Command:
    """A program and its arguments, each converted to text.

    `environment` is added to the host's environment. `folder` is the working folder; default: the
    site's. `ordinary_user` means that the program refuses to run as root. `stdin` is a file to read
    from; without it, the program has no input.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path | None
    ordinary_user: bool
    stdin: Path | None

    def __init__(
        self,
        *argv: object,
        environment: Mapping[str, str] = _NOTHING,
        folder: Path | None = None,
        ordinary_user: bool = False,
        stdin: Path | None = None,
    ) -> None:
        if not argv:
            raise ValueError("a command needs at least a program")
        object.__setattr__(self, "argv", tuple(str(word) for word in argv))
        object.__setattr__(self, "environment", dict(environment))
        object.__setattr__(self, "folder", folder)
        object.__setattr__(self, "ordinary_user", ordinary_user)
        object.__setattr__(self, "stdin", stdin)


@dataclass(frozen=True)
class Finished:
    """A process that ended: its exit code and the files of its output.

    `code` is negative for a signal, as in `subprocess`. CPU times are in seconds, and include every
    child that the process waited for; `seconds` is wall-clock time.
    """

    code: int
    stdout: Path
    stderr: Path
    seconds: float
    user_s: float
    system_s: float

    @property
    def printed(self) -> str:
        """Text of standard output. Raises OutputDamaged if another process replaced the file."""
        return text_of(self.stdout)

    @property
    def complained(self) -> str:
        """Text of standard error. Raises OutputDamaged if another process replaced the file."""
        return text_of(self.stderr)


def _exit_code_is_zero(finished: Finished) -> str | None:
    return f"exit code {finished.code}" if finished.code else None


@dataclass(frozen=True)
class Task:
    """A command that runs to its end, and a judge of its output.

    `judge` returns None for success, otherwise one line with the failure.
    """

    command: Command
    says: str
    judge: Callable[[Finished], str | None] = _exit_code_is_zero


@dataclass(frozen=True)
class Need:
    """A program on PATH, or a module of the part's interpreter, and how to install it.

    `debian` is the Debian package of the program, if there is one: benchforge can fetch it without
    root. `install` is the instruction to print; by default it names the Debian package.
    """

    name: str
    install: str = ""
    kind: Literal["program", "module"] = "program"
    debian: str = ""

    @property
    def how(self) -> str:
        """Instruction to install it."""
        return self.install or f"apt-get install {self.debian}"
