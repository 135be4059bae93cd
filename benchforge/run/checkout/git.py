"""git, asked in a place of ours: it changes nothing of a repository, and runs none of its hooks."""

import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from benchforge.parts.command import Command
from benchforge.parts.content import content_of
from benchforge.run.sandbox.sandbox import Sandbox, last_lines

_ASKED_WITHIN_S = 60.0
CHECKED_OUT_WITHIN_S = 600.0
_AS_WE_ASK = (
    "--no-optional-locks",  # or `status` writes the user's index
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "submodule.recurse=false"),
)
_LINK = "160000 "  # the mode of a submodule in a tree


class GitRefusedError(Exception):
    """What git said in place of an answer."""


class Git:
    """A repository, as the git of this machine tells of it."""

    def __init__(self, program: Path, at: Path, sandbox: Sandbox, folder: Path) -> None:
        """`at` is in its working tree; what git prints goes to `folder`, which is new."""
        folder.mkdir()
        self._program, self._at = program, at
        self._sandbox, self._folder = sandbox, folder
        self._numbers = itertools.count(1)

    def output(
        self,
        *words: object,
        environment: Mapping[str, str] | None = None,
        within_s: float = _ASKED_WITHIN_S,
    ) -> str:
        """Return what a command of git prints.

        Raises GitRefusedError when it ends with an error, and what `Sandbox.run` raises.
        """
        return self._printed(
            *words, environment=self._unfiltered | {**(environment or {})}, within_s=within_s
        )

    @cached_property
    def _unfiltered(self) -> dict[str, str]:
        """Variables without the filters of the repository's own configuration: programs of others.

        Those of the user's and the system's configuration stay.
        """
        words = ("config", "--show-scope", "--name-only", "-z", "--get-regexp", r"^filter\.")
        try:
            fields = self._printed(*words).split("\0")[:-1]
        except GitRefusedError:  # it has none
            return {}
        scopes = zip(fields[::2], fields[1::2], strict=True)
        foreign = {
            key.rpartition(".")[0] for scope, key in scopes if scope in {"local", "worktree"}
        }
        off = {"clean": "", "smudge": "", "process": "", "required": "false"}
        pairs = [(f"{name}.{key}", value) for name in sorted(foreign) for key, value in off.items()]
        variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
        for number, (key, value) in enumerate(pairs):
            variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return variables

    def _printed(
        self,
        *words: object,
        environment: Mapping[str, str] | None = None,
        within_s: float = _ASKED_WITHIN_S,
    ) -> str:
        command = Command(self._program, "-C", self._at, *_AS_WE_ASK, *words)
        label = f"git-{next(self._numbers)}"
        done = self._sandbox.run(label, command, self._folder, environment or {}, within_s)
        if done.code:
            lines = last_lines(done.stderr, 50).splitlines()
            complaint = next(
                (line for line in lines if line.startswith(("fatal: ", "error: "))), ""
            )
            raise GitRefusedError(
                complaint.partition(": ")[2] or f"it ended with exit code {done.code}"
            )
        return content_of(done.stdout).decode(errors="surrogateescape")

    def commit(self, ref: str) -> str | None:
        """Return the id of a commit; None where the ref leads to none."""
        try:
            return self.output(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
            ).strip()
        except GitRefusedError:
            return None

    def refs(self) -> list[str]:
        """Return the names of branches and tags, the newest first."""
        form = ("--format=%(refname:short)", "--sort=-creatordate")
        return self.output("for-each-ref", *form, "refs/heads", "refs/tags", "refs/remotes").split()

    def has_folder(self, commit: str, place: Path) -> bool:
        """Whether a commit has a folder, by its place below the top."""
        if place == Path():
            return True
        try:
            return self.output("cat-file", "-t", f"{commit}:{place.as_posix()}").strip() == "tree"
        except GitRefusedError:
            return False

    def changed(self) -> Iterator[tuple[str, bool]]:
        """Yield each file that the working tree changes: its place, and whether git knows it."""
        status = self.output("status", "--porcelain=v1", "-z", "--untracked-files=all").split("\0")
        entries = iter(status)
        for entry in entries:
            if entry:
                yield entry[3:], not entry.startswith("??")
            if entry[:1] in {"R", "C"}:
                next(entries)  # what it was called before

    def submodules(self, commit: str) -> tuple[str, ...]:
        """Return the folders of a commit's submodules."""
        entries = self.output("ls-tree", "-r", "-z", "--full-tree", commit).split("\0")
        return tuple(one.partition("\t")[2] for one in entries if one.startswith(_LINK))

    def check_out(self, commit: str, into: Path) -> None:
        """Write the files of a commit below a new folder: by an index of our own.

        Raises GitRefusedError when git cannot.
        """
        into.mkdir()
        index = {"GIT_INDEX_FILE": str(self._folder / f"{commit}.index")}
        self.output("read-tree", commit, environment=index, within_s=CHECKED_OUT_WITHIN_S)
        words = ("checkout-index", "--all", f"--prefix={into}/")
        self.output(*words, environment=index, within_s=CHECKED_OUT_WITHIN_S)
