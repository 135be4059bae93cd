"""Which code of a repository a server serves: a commit, or a working tree and what it changes."""

from typing import Self

from pydantic import Field, NonNegativeInt, model_validator

from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import counted

_SHOWN = 7  # digits of a commit that a person is shown, as git does


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
            raise ValueError("what is not known of a commit says why, and nothing else does")
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
