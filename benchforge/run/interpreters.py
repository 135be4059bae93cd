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
from benchforge.run.here import Here, Running, complaint
from benchforge.run.tasks import located
from benchforge.run.wishes import Found, candidates, wish

_ASKED_WITHIN_S = 20.0
# Of a Python of any age.
_QUESTION = (
    "import json, sys; print(json.dumps([sys.executable, sys.implementation.name, "
    "list(sys.version_info[:3]), sys.prefix != sys.base_prefix]))"
)
_OLDEST = (3, 8)
_NAMES = {"cpython": "CPython", "pypy": "PyPy"}


def find(here: Here, python: str, label: str, suite_folder: Path, folder: Path) -> Found:
    """Return the interpreter that a runtime asks for; each candidate is asked what it is.

    `folder` is for what they print. Raises ProgramMissing when there is none, and names those that
    there are.
    """
    if "/" in python:
        path = (suite_folder / Path(python).expanduser()).absolute()
        return _new_enough(_at(here, path, label, folder), label)
    wanted = wish(python)
    fitting = [found for found in _asked(here, candidates(wanted), folder) if wanted.fits(found)]
    if fitting:
        best = max(fitting, key=lambda one: one.version) if wanted.highest else fitting[0]
        return _new_enough(best, label)
    known = dict.fromkeys(f"{one} ({one.path})" for one in every(here, folder))
    raise ProgramMissing(
        f"runtime {label}: no interpreter {python!r} on this machine: looked on PATH, and among "
        "the interpreters of pyenv and of uv",
        f"install it, give its path, or let it be fetched: runtimes.{label}.download = true; "
        f"there are: {', '.join(known) or 'none'}",
    )


def every(here: Here, folder: Path) -> list[Found]:
    """Return all interpreters that are on this machine, virtual environments excepted."""
    others = [*candidates(wish("3")), *candidates(wish("pypy3"))]
    return [one for one in _asked(here, others, folder) if not one.environment]


def _at(here: Here, path: Path, label: str, folder: Path) -> Found:
    hint = "give the path of an interpreter"
    try:
        asked = here.run("interpreter", _question(path), folder, {}, _ASKED_WITHIN_S)
    except (ProgramMissing, TrialFailed) as error:
        reason = error.message.removeprefix("interpreter: ")
        raise ProgramMissing(f"runtime {label}: {reason}", hint) from error
    found = _read(asked)
    if found is None:
        why = "".join(f": {line}" for line in complaint(asked).splitlines()[-1:])
        raise ProgramMissing(f"runtime {label}: {path} does not answer as Python does{why}", hint)
    # The path itself: a script may stand before the interpreter on purpose.
    return replace(found, path=path)


def _new_enough(found: Found, label: str) -> Found:
    if found.version < _OLDEST:
        oldest = ".".join(map(str, _OLDEST))
        raise ProgramMissing(f"runtime {label}: {found} is too old", f"{oldest} is the oldest")
    return found


def _asked(here: Here, candidates: Iterable[Path], folder: Path) -> list[Found]:
    """Return what each says of itself, all asked at once; a shim that cannot run says nothing."""
    own = Path(tempfile.mkdtemp(dir=folder))
    running: list[Running] = []
    for number, path in enumerate(candidates, 1):
        with contextlib.suppress(ProgramMissing, TrialFailed):
            running.append(here.start(f"interpreter-{number}", _question(path), own, {}))
    deadline = time.monotonic() + _ASKED_WITHIN_S
    ended = [here.wait(one, max(0.0, deadline - time.monotonic())) for one in running]
    for one in running:
        if here.alive(one):
            here.stop(one, first=signal.SIGKILL)
    return [found for one in ended if one is not None and (found := _read(one)) is not None]


def _question(path: Path) -> Command:
    return located(Command(path, "-I", "-c", _QUESTION))


def _read(asked: Finished) -> Found | None:
    try:
        executable, name, version, environment = json.loads(asked.stdout.read_text())
        return Found(
            Path(executable),
            _NAMES.get(str(name), str(name)),
            tuple(int(one) for one in version),
            bool(environment),
        )
    except (ValueError, TypeError):  # it failed, or is no Python
        return None
