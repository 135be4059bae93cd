"""Interpreters: what a suite asks for, and what was found inside of them."""

from typing import Annotated

from pydantic import Field

from benchforge.model.values.frozen import Frozen

OWN = "benchforge"
"In place of a label: the interpreter that benchforge runs on."

# Of one line, and no option of an installer.
_Requirement = Annotated[str, Field(pattern=r"^[A-Za-z0-9][^\r\n]*$")]


class Runtime(Frozen):
    """A table [runtimes.x]: an interpreter and the packages that are installed for it."""

    python: str = Field(min_length=1)
    "Version of CPython (3.12), name of a program (pypy3), or path, relative to the suite's folder."
    requires: tuple[_Requirement, ...] = ()
    "Required packages, in pip's notation."
    download: bool = False
    "Permission to download an interpreter that is not on this machine."


class Interpreter(Frozen):
    """What an interpreter told of itself, from inside."""

    executable: str
    "Its file."
    implementation: str
    "CPython, PyPy."
    version: str
    "Of the language, such as 3.12.1."
    build: str
    "How it was made, as sys.version says: PyPy's own version, the date, the compiler."
    packages: dict[str, str]
    "The version of every distribution that it can import, by name."
    requested: str = ""
    "The interpreter that the suite asks for: a version, a program or a path; empty for our own."
    real_path: str = ""
    "Its file, behind all links."
    lock_sha256: str | None = None
    "Of the list of pinned packages that it was built from; None where nothing was built."
