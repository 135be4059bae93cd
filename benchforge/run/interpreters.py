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

from benchforge.errors import ProgramMissing, TrialFailed
from benchforge.parts.command import Command, Finished
from benchforge.run.here import Here, Running, complaint
from benchforge.run.locate import everywhere
from benchforge.run.tasks import located

_ASKED_WITHIN_S = 20.0
# Of a Python of any age.
_QUESTION = (
    "import json, sys; print(json.dumps([sys.executable, sys.implementation.name, "
    "list(sys.version_info[:3]), sys.prefix != sys.base_prefix]))"
)
_OLDEST = (3, 8)
_NAMES = {"cpython": "CPython", "pypy": "PyPy"}


@dataclass(frozen=True)
class Found:
    """An interpreter: where it is, and what it said that it is."""

    path: Path
    implementation: str
    version: tuple[int, ...]
    environment: bool
    "Whether it is of a virtual environment."

    def __str__(self) -> str:
        """As a person speaks of it."""
        return f"{self.implementation} {'.'.join(map(str, self.version))}"


@dataclass(frozen=True)
class Wish:
    """What `python = "..."` asks for."""

    text: str
    names: tuple[str, ...]
    "Of programs; what they are called in other places than PATH is the last one."
    implementation: str = ""
    version: tuple[int, ...] = ()
    highest: bool = False
    "Of all that fit; the first one without it. One of a virtual environment never fits."

    def fits(self, found: Found) -> bool:
        """Tell whether an interpreter is what is asked for."""
        return (
            self.implementation in {"", found.implementation}
            and found.version[: len(self.version)] == self.version
            and not (self.highest and found.environment)
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


def find(here: Here, python: str, label: str, suite_folder: Path, folder: Path) -> Found:
    """Return the interpreter that a runtime asks for; each candidate is asked what it is.

    `folder` is for what they print. Raises ProgramMissing when there is none, and names those that
    there are.
    """
    if "/" in python:
        path = (suite_folder / Path(python).expanduser()).absolute()
        return _new_enough(_at(here, path, label, folder), label)
    wanted = wish(python)
    fitting = [found for found in _asked(here, _candidates(wanted), folder) if wanted.fits(found)]
    if fitting:
        best = max(fitting, key=lambda one: one.version) if wanted.highest else fitting[0]
        return _new_enough(best, label)
    others = [*_candidates(wish("3")), *_candidates(wish("pypy3"))]
    known = dict.fromkeys(
        f"{one} ({one.path})" for one in _asked(here, others, folder) if not one.environment
    )
    raise ProgramMissing(
        f"runtime {label}: no interpreter {python!r} on this machine: looked on PATH, and among "
        "the interpreters of pyenv and of uv",
        f"install it, give its path, or let it be fetched: runtimes.{label}.download = true; "
        f"there are: {', '.join(known) or 'none'}",
    )


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


def _candidates(wanted: Wish) -> list[Path]:
    """Return each program that may be meant: on PATH, then those of pyenv, then those of uv."""
    found = [path for name in wanted.names for path in everywhere(name)]
    for folder in (_of_pyenv(), _of_uv()):
        found += sorted(folder.glob(f"*/bin/{wanted.names[-1]}"))
    # /bin may be /usr/bin; a link to the program itself may be an environment of its own.
    unique: dict[Path, Path] = {}
    for path in found:
        unique.setdefault(path.parent.resolve() / path.name, path)
    return list(unique.values())


def _of_pyenv() -> Path:
    return Path(os.environ.get("PYENV_ROOT") or _home() / ".pyenv") / "versions"


def _of_uv() -> Path:
    data = Path(os.environ.get("XDG_DATA_HOME") or _home() / ".local/share")
    return Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv/python")


def _home() -> Path:
    return Path(os.environ.get("HOME", "/"))
