"""Which code of a repository a server serves: a commit, or a working tree and what it changes."""

from typing import Self

from pydantic import Field, NonNegativeInt, model_validator

from benchforge.model.values.frozen import Frozen
from benchforge.text.readable import counted

_SHOWN = 7  # digits of a commit that a person is shown, as git does


class Code(Frozen):
    """The code of a server that lies in a git repository, as git told it when the run began."""

    server: str
    "Its label in the suite."
    directory: str | None = None
    "As the suite gives it; None for the suite's own folder."
    ref: str | None = None
    "As the suite names what is served; None for the working tree as it was."
    repository: str
    "The top of its working tree."
    commit: str | None = None
    "What was served, or of a working tree what is checked out there; None where git told none."
    changed_files: NonNegativeInt | None = None
    """Number of files of the working tree that differ from the commit, with those that git does \
not know yet below `directory`; 0 for a ref; None where git did not tell."""
    submodules: tuple[str, ...] = Field(default=())
    "Of a ref: their folders, which are empty where it is served from."
    why: str = ""
    "Why there is no commit, or why it is not known what changed."

    @model_validator(mode="after")
    def _known_or_with_a_reason(self) -> Self:
        if (self.commit is None or self.changed_files is None) != bool(self.why):
            msg = "what is not known of a commit says why, and nothing else does"
            raise ValueError(msg)
        return self

    @property
    def rebuilds(self) -> bool:
        """Whether the commit alone is what was served."""
        return self.commit is not None and self.changed_files == 0

    @property
    def in_words(self) -> str:
        """In words: `main at 1a2b3c4`, or `working tree of 1a2b3c4, 2 files changed`."""
        if self.commit is None:
            return f"{self.ref or 'working tree'}, commit unknown: {self.why}"
        commit = self.commit[:_SHOWN]
        if self.ref is not None:
            named = f"{self.ref} at {commit}" if self.ref != self.commit else f"commit {commit}"
            lacks = f" without its submodules {', '.join(self.submodules)}"
            return named + (lacks if self.submodules else "")
        if self.changed_files is None:
            return f"working tree of {commit}, changes unknown: {self.why}"
        files = counted(self.changed_files, "file") if self.changed_files else "nothing"
        return f"working tree of {commit}, {files} changed"
