"""The base commit of a gate: resolved by git, which changes nothing and runs no hook."""

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchforge.cli.measure.gate.commits.no_commit import is_shallow, missing
from benchforge.cli.measure.gate.older_result import OlderResult
from benchforge.errors import CannotKeep, ProgramMissing, Unusable
from benchforge.parts.part import GIT
from benchforge.run.checkout.git import Git, GitRefusedError
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import locate
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.sandbox.sandbox import Sandbox

_SHOWN = 7  # digits of a commit, as git shows it


class BaseCommit(NamedTuple):
    """A commit that the working tree is compared with."""

    ref: str
    "Name as given."
    commit: str
    top: Path
    "Top folder of the working tree."
    folder: Path
    "Its files, in a private folder."
    head: str
    "Commit that the working tree has checked out; empty without one."
    lacks: int | None
    "Number of commits of the base that the working tree lacks; None: unknown in a shallow clone."
    sandbox: Sandbox
    scratch: Path
    older: OlderResult | None = None
    "Result that recorded the commit and the options of its servers, if one is the base."

    @property
    def in_words(self) -> str:
        """Description: `main at 1a2b3c4`, `commit 1a2b3c4` or `results/a at 1a2b3c4`."""
        commit = self.commit[:_SHOWN]
        if self.older is None and self.ref == self.commit:
            return f"commit {commit}"
        return f"{self.ref if self.older is None else self.older.folder} at {commit}"


@contextlib.contextmanager
def base_commit(ref: str, folder: Path) -> Iterator[BaseCommit]:
    """Give the base of the repository that contains a folder, checked out until the end.

    Raises Unusable for a ref that leads to no commit, with the command that fetches it.
    """
    program = locate(GIT.name)
    if program is None:
        raise ProgramMissing("gate: git is missing", "install git")
    with scratch_folder() as scratch, LocalHost().trial(scratch, "host") as sandbox:
        git = Git(program, folder, sandbox, scratch / "git")
        try:
            top = Path(git.output("rev-parse", "--show-toplevel").removesuffix("\n"))
            commit = git.commit(ref)
            if commit is None:
                raise missing(ref, git, top)
            head = git.commit("HEAD") or ""
            lacks = _lacks(git, head, commit)
        except GitRefusedError as error:
            raise _refused(folder, str(error)) from error
        try:
            git.check_out(commit, scratch / "base")
        except GitRefusedError as error:
            message = f"--base {ref}: git cannot check it out: {error}"
            raise CannotKeep(message, f"see the disk of {scratch}, and {top}") from error
        yield BaseCommit(ref, commit, top, scratch / "base", head, lacks, sandbox, scratch)


def _lacks(git: Git, head: str, commit: str) -> int | None:
    if head and is_shallow(git):
        return 0 if commit in _history(git, head) else None
    return int(git.output("rev-list", "--count", f"{head}..{commit}" if head else commit))


def _history(git: Git, head: str) -> set[str]:
    """Return the commits that a commit surely contains, by what a shallow clone has of them.

    The oldest commits of such a clone have no parents for git; their own text names them.
    """
    text = git.output("cat-file", "commit", head).partition("\n\n")[0].splitlines()
    parents = {line.removeprefix("parent ") for line in text if line.startswith("parent ")}
    return {*git.output("rev-list", head).split(), *parents}


def _refused(folder: Path, why: str) -> Unusable:
    if "dubious ownership" in why:
        words = ["git", "config", "--global", "--add", "safe.directory", str(folder)]
        hint = f"if the files are yours: {shlex.join(words)}"
    elif "not a git repository" in why:
        hint = "compare a suite in the working tree of a git repository, or use --against"
    else:
        hint = "see what git status prints"
    return Unusable(f"{folder}: git refuses: {why}", hint)
