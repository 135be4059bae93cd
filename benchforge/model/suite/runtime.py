"""Interpreters: what a suite asks for, and what was found inside of them."""

from typing import Annotated

from pydantic import Field

from benchforge.model.values.frozen import Frozen

OWN = "benchforge"
"In place of a label: the interpreter that benchforge runs on."

FILE_OPTION = "-r "
"Begins a requirement that names a file of requirements, relative to the suite's folder."
# Of one line, and no other option of an installer.
_Requirement = Annotated[str, Field(pattern=r"^([A-Za-z0-9]|-r )[^\r\n]*$")]


class Runtime(Frozen):
    """A table [runtimes.x]: an interpreter and the packages to install for it."""

    python: str = Field(min_length=1)
    "Version of CPython (3.12), name of a program (pypy3), or path, relative to the suite's folder."
    requires: tuple[_Requirement, ...] = ()
    "Required packages, in pip's notation: flask>=3, or -r requirements.txt."
    download: bool = False
    "Permission to download an interpreter that is not on this machine."


class Interpreter(Frozen):
    """An interpreter, as it reports itself from inside."""

    executable: str
    "Path of the interpreter."
    implementation: str
    "Implementation: CPython or PyPy."
    version: str
    "Version of the language, such as 3.12.1."
    build: str
    "Build as sys.version reports it: PyPy's own version, the date, the compiler."
    packages: dict[str, str]
    "Version of each distribution that the interpreter can import, by name."
    requested: str = ""
    "Interpreter that the suite names: a version, a program or a path; empty for benchforge's own."
    real_path: str = ""
    "Path of the interpreter, with links resolved."
    lock_sha256: str | None = None
    "SHA-256 of the list of pinned packages in the environment; None if none was built."
