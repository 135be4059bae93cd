"""Interpreters: what a suite asks for, and what was found inside of them."""

from pydantic import Field

from benchforge.model.frozen import Frozen


class Runtime(Frozen):
    """A table [runtimes.x]: an interpreter and the packages that are installed for it."""

    python: str = Field(min_length=1)
    "A version of CPython (3.12), a program's name (pypy3), or a path, from the suite's folder."
    requires: tuple[str, ...] = ()
    "Requirements as pip takes them."
    download: bool = False
    "Whether an interpreter that is not on this machine may be downloaded."


class Interpreter(Frozen):
    """What an interpreter told of itself, from inside."""

    executable: str
    implementation: str
    "CPython, PyPy."
    version: str
    packages: dict[str, str]
    "The version of every distribution that it can import, by name."
    lock_sha256: str | None = None
    "Of the list of pinned packages that it was built from; None where nothing was built."
