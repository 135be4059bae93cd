"""Which interpreters a suite may mean, by the names of files: none of them is started here."""

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from benchforge.run.locate import everywhere


@dataclass(frozen=True)
class InterpreterCandidate:
    """An interpreter: where it is, and what it said that it is."""

    path: Path
    implementation: str
    version: tuple[int, ...]
    environment: bool
    "True if it belongs to a virtual environment."

    def __str__(self) -> str:
        """As a person speaks of it."""
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
        """Tell whether an interpreter is what is asked for."""
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
    for folder in (_of_pyenv(), _of_uv()):
        with contextlib.suppress(OSError):  # PYENV_ROOT may name a folder that is closed to us
            paths += sorted(folder.glob(f"*/bin/{wanted.names[-1]}"))
    # /bin may be /usr/bin; a link to the program itself may be an environment of its own.
    unique: dict[Path, Path] = {}
    for path in paths:
        unique.setdefault(path.parent.resolve() / path.name, path)
    return list(unique.values())


def _of_pyenv() -> Path:
    return Path(os.environ.get("PYENV_ROOT") or _home() / ".pyenv") / "versions"


def _of_uv() -> Path:
    data = Path(os.environ.get("XDG_DATA_HOME") or _home() / ".local/share")
    return Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv/python")


def _home() -> Path:
    return Path(os.environ.get("HOME", "/"))
