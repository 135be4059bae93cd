"""Interpreters on this machine: found by what they say of themselves, not by their file names."""

import contextlib
import json
import signal
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from benchforge.errors import ProgramMissing, TrialFailed
from benchforge.parts.command import Command, Finished
from benchforge.run.programs.interpreter_request import InterpreterCandidate, candidates, wish
from benchforge.run.sandbox.sandbox import Running, Sandbox, complaint

_ASKED_WITHIN_S = 20.0
# Of a Python of any age.
_QUESTION = (
    "import json, sys; print(json.dumps([sys.executable, sys.implementation.name, "
    "list(sys.version_info[:3]), sys.prefix != sys.base_prefix]))"
)
_OLDEST = (3, 8)
_NAMES = {"cpython": "CPython", "pypy": "PyPy"}


def find(
    sandbox: Sandbox, python: str, label: str, suite_folder: Path, folder: Path
) -> InterpreterCandidate:
    """Return the interpreter that a runtime asks for; each candidate is asked what it is.

    `folder` is for what they print. Raises ProgramMissing when there is none, and names those that
    there are.
    """
    if "/" in python:
        path = (suite_folder / Path(python).expanduser()).absolute()
        return _new_enough(_at(sandbox, path, label, folder), label)
    wanted = wish(python)
    fitting = [
        interpreter
        for interpreter in _ask_all(sandbox, candidates(wanted), folder)
        if wanted.fits(interpreter)
    ]
    if fitting:
        best = (
            max(fitting, key=lambda interpreter: interpreter.version)
            if wanted.highest
            else fitting[0]
        )
        return _new_enough(best, label)
    available = dict.fromkeys(
        f"{interpreter} ({interpreter.path})" for interpreter in all_interpreters(sandbox, folder)
    )
    raise ProgramMissing(
        f"runtime {label}: no interpreter {python!r} on this machine: looked on PATH, and among "
        "the interpreters of pyenv and of uv",
        f"install it, give its path, or allow the download: runtimes.{label}.download = true; "
        f"there are: {', '.join(available) or 'none'}",
    )


def all_interpreters(sandbox: Sandbox, folder: Path) -> list[InterpreterCandidate]:
    """Return all interpreters that are on this machine, virtual environments excepted."""
    others = [*candidates(wish("3")), *candidates(wish("pypy3"))]
    return [
        interpreter
        for interpreter in _ask_all(sandbox, others, folder)
        if not interpreter.environment
    ]


def _at(sandbox: Sandbox, path: Path, label: str, folder: Path) -> InterpreterCandidate:
    hint = "give the path of an interpreter"
    try:
        finished = sandbox.run("interpreter", _question(path), folder, {}, _ASKED_WITHIN_S)
    except (ProgramMissing, TrialFailed) as error:
        reason = error.message.removeprefix("interpreter: ")
        raise ProgramMissing(f"runtime {label}: {reason}", hint) from error
    interpreter = _read(finished)
    if interpreter is None:
        why = "".join(f": {line}" for line in complaint(finished).splitlines()[-1:])
        raise ProgramMissing(f"runtime {label}: {path} does not answer as Python does{why}", hint)
    # The path itself: a script may stand before the interpreter on purpose.
    return replace(interpreter, path=path)


def _new_enough(interpreter: InterpreterCandidate, label: str) -> InterpreterCandidate:
    if interpreter.version < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise ProgramMissing(
            f"runtime {label}: {interpreter} is too old", f"{oldest} is the oldest"
        )
    return interpreter


def _ask_all(
    sandbox: Sandbox, candidates: Iterable[Path], folder: Path
) -> list[InterpreterCandidate]:
    """Return what each says of itself, all asked at once; a shim that cannot run says nothing."""
    own = Path(tempfile.mkdtemp(dir=folder))
    running: list[Running] = []
    for number, path in enumerate(candidates, 1):
        with contextlib.suppress(ProgramMissing, TrialFailed):
            running.append(sandbox.start(f"interpreter-{number}", _question(path), own, {}))
    deadline = time.monotonic() + _ASKED_WITHIN_S
    ended = [sandbox.wait(process, max(0.0, deadline - time.monotonic())) for process in running]
    for process in running:
        if sandbox.alive(process):
            sandbox.stop(process, first=signal.SIGKILL)
    return [
        interpreter
        for finished in ended
        if finished is not None and (interpreter := _read(finished)) is not None
    ]


def _question(path: Path) -> Command:
    return Command(path, "-I", "-c", _QUESTION)


def _read(finished: Finished) -> InterpreterCandidate | None:
    try:
        executable, name, version, environment = json.loads(finished.printed)
        return InterpreterCandidate(
            Path(executable),
            _NAMES.get(str(name), str(name)),
            tuple(int(number) for number in version),
            bool(environment),
        )
    except (ValueError, TypeError):  # it failed, or is no Python
        return None
