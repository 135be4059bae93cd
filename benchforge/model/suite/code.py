"""Code that a server runs: a commit, or a working tree and its changes."""

from typing import Annotated, Self

from pydantic import Field, NonNegativeInt, model_validator

from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import counted

_SHOWN = 7  # digits of a commit that a person is shown, as git does

OWN = "benchforge"
"In place of a label: the interpreter that benchforge runs on."

FILE_OPTION = "-r "
"Begins a requirement that names a file of requirements, relative to the suite's folder."
# Of one line, and no other option of an installer.
_Requirement = Annotated[str, Field(pattern=r"^([A-Za-z0-9]|-r )[^\r\n]*$")]


class Code(Frozen):
    """The code of a server in a git repository, as git reported it when the run began."""

    server: str
    "Label of the server."
    directory: str | None = None
    "Folder of the code as the suite gives it; None for the suite's own folder."
    ref: str | None = None
    "Branch, tag or commit as the suite names it; None for the working tree."
    repository: str
    "Top folder of the repository's working tree."
    commit: str | None = None
    "Commit that was served, or that the working tree has checked out; None if unknown."
    changed_files: NonNegativeInt | None = None
    """Number of files that differ from the commit, including untracked ones below `directory`; 0
    for a ref; None: unknown."""
    submodules: tuple[str, ...] = Field(default=())
    "Folders of a ref's submodules, which are empty in the served copy."
    why: str = ""
    "Reason why the commit or the number of changed files is unknown."

    @model_validator(mode="after")
    def _known_or_with_a_reason(self) -> Self:
        if (self.commit is None or self.changed_files is None) != bool(self.why):
            raise ValueError("an unknown commit or number of changes has a reason, and only that")
        return self

    @property
    def rebuilds(self) -> bool:
        """True if the commit alone is what was served."""
        return self.commit is not None and self.changed_files == 0

    @property
    def in_words(self) -> str:
        """Description: `main at 1a2b3c4`, or `working tree at 1a2b3c4 with 2 changed files`."""
        if self.commit is None:
            return f"{self.ref or 'working tree'}, commit unknown: {self.why}"
        commit = self.commit[:_SHOWN]
        if self.ref is not None:
            named = f"{self.ref} at {commit}" if self.ref != self.commit else f"commit {commit}"
            lacks = f" without its submodules {', '.join(self.submodules)}"
            return named + (lacks if self.submodules else "")
        if self.changed_files is None:
            return f"working tree at {commit}, changes unknown: {self.why}"
        files = f" with {counted(self.changed_files, 'changed file')}" if self.changed_files else ""
        return f"working tree at {commit}{files}"


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
