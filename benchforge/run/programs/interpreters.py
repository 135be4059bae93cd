"""Interpreters on this machine: found by what they say of themselves, not by their file names."""

import contextlib
import json
import os
import re
import signal
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchforge.errors import ProgramMissing, TrialFailed
from benchforge.parts.command import Command, Finished
from benchforge.run.locate import everywhere

if TYPE_CHECKING:  # `check` starts nothing
    from benchforge.run.sandbox.sandbox import Running, Sandbox

_ASKED_WITHIN_S = 20.0
# Of a Python of any age.
_QUESTION = (
    "import json, sys; print(json.dumps([sys.executable, sys.implementation.name, "
    "list(sys.version_info[:3]), sys.prefix != sys.base_prefix]))"
)
_OLDEST = (3, 8)
_NAMES = {"cpython": "CPython", "pypy": "PyPy"}


@dataclass(frozen=True)
class InterpreterCandidate:
    """An interpreter: where it is, and what it said that it is."""

    path: Path
    implementation: str
    version: tuple[int, ...]
    environment: bool
    "True if it belongs to a virtual environment."

    def __str__(self) -> str:
        """Name and version, such as CPython 3.11.7."""
        return f"{self.implementation} {'.'.join(map(str, self.version))}"


@dataclass(frozen=True)
class Wish:
    """What `python = "..."` asks for."""

    text: str
    names: tuple[str, ...]
    "Names of programs. The last one is the name in places other than PATH."
    implementation: str = ""
    version: tuple[int, ...] = ()
    highest: bool = False
    "True for the highest version that fits, not the first; never one of a virtual environment."

    def fits(self, interpreter: InterpreterCandidate) -> bool:
        """Tell whether an interpreter fulfils the wish."""
        return (
            self.implementation in {"", interpreter.implementation}
            and interpreter.version[: len(self.version)] == self.version
            and not (self.highest and interpreter.environment)
        )


def wish(python: str) -> Wish:
    """Understand what a suite asks for, a path excepted."""
    if re.fullmatch(r"\d+(\.\d+){0,2}", python):
        version = tuple(map(int, python.split(".")))
        exact = "python" + ".".join(python.split(".")[:2])
        names = tuple(dict.fromkeys((exact, f"python{version[0]}")))
        return Wish(python, names, "CPython", version, highest=True)
    if pypy := re.fullmatch(r"pypy(\d+(?:\.\d+)*)?", python):
        version = tuple(map(int, (pypy[1] or "").split("."))) if pypy[1] else ()
        return Wish(python, tuple(dict.fromkeys((python, "pypy3"))), "PyPy", version)
    return Wish(python, (python,))


def candidates(wanted: Wish) -> list[Path]:
    """Return each program that may be meant: on PATH, then those of pyenv, then those of uv."""
    paths = [path for name in wanted.names for path in everywhere(name)]
    home = Path(os.environ.get("HOME", "/"))
    pyenv = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv/python")
    for folder in (pyenv / "versions", uv):
        with contextlib.suppress(OSError):  # PYENV_ROOT may name a folder that is closed to us
            paths += sorted(folder.glob(f"*/bin/{wanted.names[-1]}"))
    # /bin may be /usr/bin; a link to the program itself may be an environment of its own.
    unique: dict[Path, Path] = {}
    for path in paths:
        unique.setdefault(path.parent.resolve() / path.name, path)
    return list(unique.values())


def find(
    sandbox: "Sandbox", python: str, label: str, suite_folder: Path, folder: Path
) -> InterpreterCandidate:
    """Return the interpreter that a runtime asks for; each candidate is asked what it is.

    `folder` is for what they print. Raises ProgramMissing, which names the available ones.
    """
    if "/" in python:
        path = (suite_folder / Path(python).expanduser()).absolute()
        return _new_enough(_at(sandbox, path, label, folder), label)
    wanted = wish(python)
    answers = _ask_all(sandbox, candidates(wanted), folder)
    if fitting := [interpreter for interpreter in answers if wanted.fits(interpreter)]:
        best = max(fitting, key=lambda each: each.version) if wanted.highest else fitting[0]
        return _new_enough(best, label)
    others = all_interpreters(sandbox, folder)
    available = dict.fromkeys(f"{interpreter} ({interpreter.path})" for interpreter in others)
    raise ProgramMissing(
        f"runtime {label}: no interpreter {python!r} on this machine: looked on PATH, and among "
        "the interpreters of pyenv and of uv",
        f"install it, give its path, or allow the download: runtimes.{label}.download = true; "
        f"there are: {', '.join(available) or 'none'}",
    )


def all_interpreters(sandbox: "Sandbox", folder: Path) -> list[InterpreterCandidate]:
    """Return all interpreters that are on this machine, virtual environments excepted."""
    others = [*candidates(wish("3")), *candidates(wish("pypy3"))]
    return [each for each in _ask_all(sandbox, others, folder) if not each.environment]


def _at(sandbox: "Sandbox", path: Path, label: str, folder: Path) -> InterpreterCandidate:
    hint = "give the path of an interpreter"
    try:
        finished = sandbox.run("interpreter", _question(path), folder, {}, _ASKED_WITHIN_S)
    except (ProgramMissing, TrialFailed) as error:
        reason = error.message.removeprefix("interpreter: ")
        raise ProgramMissing(f"runtime {label}: {reason}", hint) from error
    interpreter = _read(finished)
    if interpreter is None:
        from benchforge.run.sandbox.sandbox import complaint  # noqa: PLC0415 - as above

        cause = "".join(f": {line}" for line in complaint(finished).splitlines()[-1:])
        raise ProgramMissing(f"runtime {label}: {path} does not answer as Python does{cause}", hint)
    # The path itself: a script may stand before the interpreter on purpose.
    return replace(interpreter, path=path)


def _new_enough(python: InterpreterCandidate, label: str) -> InterpreterCandidate:
    if python.version < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise ProgramMissing(f"runtime {label}: {python} is too old", f"{oldest} is the oldest")
    return python


def _ask_all(
    sandbox: "Sandbox", candidates: Iterable[Path], folder: Path
) -> list[InterpreterCandidate]:
    """Return what each says of itself, all asked at once; a shim that cannot run says nothing."""
    scratch = Path(tempfile.mkdtemp(dir=folder))
    running: list[Running] = []
    for number, path in enumerate(candidates, 1):
        with contextlib.suppress(ProgramMissing, TrialFailed):
            running.append(sandbox.start(f"interpreter-{number}", _question(path), scratch, {}))
    deadline = time.monotonic() + _ASKED_WITHIN_S
    ended = [sandbox.wait(process, max(0.0, deadline - time.monotonic())) for process in running]
    for process in running:
        if sandbox.alive(process):
            sandbox.stop(process, first=signal.SIGKILL)
    return [python for finished in ended if finished and (python := _read(finished))]


def _question(path: Path) -> Command:
    return Command(path, "-I", "-c", _QUESTION)


def _read(finished: Finished) -> InterpreterCandidate | None:
    try:
        executable, name, version, environment = json.loads(finished.printed)
        usual, numbers = _NAMES.get(str(name), str(name)), tuple(map(int, version))
        return InterpreterCandidate(Path(executable), usual, numbers, bool(environment))
    except (ValueError, TypeError):  # it failed, or is no Python
        return None
