"""Commits of the servers' code, and checkouts for servers of a commit."""

import contextlib
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from benchforge.errors import BenchforgeError, CannotKeep
from benchforge.model.files.folder import HEADER
from benchforge.model.suite.code import Code
from benchforge.parts.command import Command
from benchforge.parts.content import content_of
from benchforge.parts.part import GIT, ServesCode
from benchforge.parts.site import Tree
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import locate
from benchforge.run.sandbox.host import Host
from benchforge.run.sandbox.sandbox import Sandbox, last_lines
from benchforge.run.trial.context import TrialContext, locate_programs
from benchforge.suite.cases.parts import NO_REPOSITORY, WITHOUT, parts_by_scenario, repository
from benchforge.suite.secrets import redact
from benchforge.suite.suite import Suite
from benchforge.suite.toml.faults import SuiteErrors, SuiteFault, nearest
from benchforge.suite.toml.source import located

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
    """Git's complaint."""


class Git:
    """A repository, by the git of this machine."""

    def __init__(self, program: Path, code_folder: Path, sandbox: Sandbox, folder: Path) -> None:
        """`code_folder` is in its working tree; what git prints goes to `folder`, which is new."""
        folder.mkdir()
        self._program, self._at = program, code_folder
        self._sandbox, self._folder = sandbox, folder
        self._numbers = itertools.count(1)

    def output(self, *words: object, index: str = "", within_s: float = _ASKED_WITHIN_S) -> str:
        """Return what a command of git prints. Raises GitRefusedError, and as `Sandbox.run`."""
        variables = {"GIT_INDEX_FILE": index} if index else {}
        return self._printed(words, self._unfiltered | variables, within_s)

    @cached_property
    def _unfiltered(self) -> dict[str, str]:
        """Variables without the filters of the repository's own configuration: programs of others.

        Those of the user's and the system's configuration stay.
        """
        words = ("config", "--show-scope", "--name-only", "-z", "--get-regexp", r"^filter\.")
        try:
            fields = self._printed(words, {}, _ASKED_WITHIN_S).split("\0")[:-1]
        except GitRefusedError:  # it has none
            return {}
        scopes = zip(fields[::2], fields[1::2], strict=True)
        foreign = {key.rpartition(".")[0] for kind, key in scopes if kind in {"local", "worktree"}}
        off = {"clean": "", "smudge": "", "process": "", "required": "false"}
        pairs = [(f"{name}.{key}", value) for name in sorted(foreign) for key, value in off.items()]
        variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
        for number, (key, value) in enumerate(pairs):
            variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return variables

    def _printed(self, words: Sequence[object], variables: dict[str, str], within_s: float) -> str:
        command = Command(self._program, "-C", self._at, *_AS_WE_ASK, *words)
        label = f"git-{next(self._numbers)}"
        done = self._sandbox.run(label, command, self._folder, variables, within_s)
        if done.code:
            lines = last_lines(done.stderr, 50).splitlines()
            text = next((row for row in lines if row.startswith(("fatal: ", "error: "))), "")
            raise GitRefusedError(text.partition(": ")[2] or f"it ended with exit code {done.code}")
        return content_of(done.stdout).decode(errors="surrogateescape")

    def _word(self, *words: object) -> str | None:
        try:
            return self.output(*words).strip()
        except GitRefusedError:
            return None

    def commit(self, ref: str) -> str | None:
        """Return the id of a commit; None where the ref leads to none."""
        options = ("--verify", "--quiet", "--end-of-options")
        return self._word("rev-parse", *options, f"{ref}^{{commit}}")

    def refs(self) -> list[str]:
        """Return the names of branches and tags, the newest first."""
        form = ("--format=%(refname:short)", "--sort=-creatordate")
        return self.output("for-each-ref", *form, "refs/heads", "refs/tags", "refs/remotes").split()

    def has_folder(self, commit: str, path: Path) -> bool:
        """Whether a commit has a folder, by its place below the top."""
        return (
            path == Path() or self._word("cat-file", "-t", f"{commit}:{path.as_posix()}") == "tree"
        )

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
        return tuple(entry.partition("\t")[2] for entry in entries if entry.startswith(_LINK))

    def check_out(self, commit: str, into: Path) -> None:
        """Write a commit's files into a new folder, by our own index. Raises GitRefusedError."""
        into.mkdir()
        index = str(self._folder / f"{commit}.index")
        self.output("read-tree", commit, index=index, within_s=CHECKED_OUT_WITHIN_S)
        words = ("checkout-index", "--all", f"--prefix={into}/")
        self.output(*words, index=index, within_s=CHECKED_OUT_WITHIN_S)


class _Wanted(NamedTuple):
    """What a server serves, as the suite says it."""

    server: str
    directory: str | None
    ref: str | None
    folder: Path

    def code(self, top: Path, **fields: Any) -> Code:
        """Return the code in a repository."""
        return Code(server=self.server, directory=self.directory, repository=str(top), **fields)

    def unknown(self, reason: str) -> Code:
        """Return the code, of which no commit is known."""
        return self.code(repository(self.folder) or self.folder, why=reason)


class _WrongError(Exception):
    """An option leads nowhere: its name, message and hint."""


def with_code(suite: Suite, host: Host, servers: Collection[str] | None = None) -> Suite:
    """Return the suite with the commit of each server, or of `servers`, whose code is in git.

    Raises SuiteErrors for a ref that leads to no commit or to one without the directory, and
    ProgramMissing for a ref without git.
    """
    wanted = [wanted for wanted in _wanted(suite) if servers is None or wanted.server in servers]
    if not wanted:
        return suite
    program = locate(GIT.name)
    if program is None:
        if any(wanted_code.ref for wanted_code in wanted):
            locate_programs([GIT])
        return replace(suite, code=tuple(code.unknown("git is missing") for code in wanted))
    codes: list[Code] = []
    faults: list[SuiteFault] = []
    with scratch_folder() as folder, host.trial(folder, "host") as sandbox:
        for number, wish in enumerate(wanted):
            # Or what is left of its path: a commit may have what lies here no more.
            within = next(top for top in (wish.folder, *wish.folder.parents) if top.is_dir())
            git = Git(program, within, sandbox, folder / str(number))
            try:
                codes.append(_code(wish, git, suite.path.resolve()))
            except _WrongError as error:
                option, message, hint = error.args
                hide = partial(redact, secrets=suite.secrets)
                path = ("servers", wish.server, option)
                faults.append(located(suite.document, path, message, hint, hide=hide))
    if faults:
        raise SuiteErrors(list(dict.fromkeys(faults)))
    return replace(suite, code=tuple(codes))


@contextlib.contextmanager
def checked_out(
    suite: Suite, context: TrialContext, tell: Callable[[str], None]
) -> Iterator[TrialContext]:
    """Give the context the checkout of each commit that a server serves; remove them on leaving.

    `suite` is from `with_code`. Raises CannotKeep.
    """
    served = [code for code in suite.code if code.ref is not None]
    program = locate(GIT.name)
    if not served or program is None:
        yield context
        return
    with scratch_folder() as folder:
        checkouts: dict[tuple[str, str], Path] = {}
        trees: dict[tuple[str | None, str], Tree] = {}
        with context.host.trial(folder, "host") as sandbox:
            for code in served:
                key = code.repository, code.commit or ""
                if key not in checkouts:
                    number = len(checkouts)
                    git = Git(program, Path(code.repository), sandbox, folder / f"git-{number}")
                    checkouts[key] = folder / f"{number}-{key[1][:12]}"
                    try:
                        git.check_out(key[1], checkouts[key])
                    except GitRefusedError as error:
                        words = f"servers.{code.server}: git cannot check out {code.ref}: {error}"
                        hint = f"see the disk of {folder}, and {code.repository}"
                        raise CannotKeep(words, hint) from error
                trees[code.directory, code.ref or ""] = Tree(Path(code.repository), checkouts[key])
                tell(f"servers.{code.server}: {code.in_words}")
        yield replace(context, trees=trees)


def _wanted(suite: Suite) -> list[_Wanted]:
    """Return all code that lies in a repository, or should, once for each server and place."""
    wanted: dict[_Wanted, None] = {}
    for _, key, part in parts_by_scenario(suite):
        if not isinstance(part, ServesCode):
            continue
        folder = part.code(suite.path.parent)
        if folder is not None and (part.ref is not None or repository(folder) is not None):
            server = key.partition(".")[2]
            wanted[_Wanted(server, part.directory, part.ref, folder)] = None
    return list(wanted)


def _code(wanted: _Wanted, git: Git, suite_file: Path) -> Code:
    """Return what git tells. Raises _WrongError for a ref or a directory that leads nowhere."""
    if repository(wanted.folder) is None:
        raise _WrongError("ref", f"{wanted.folder}: {NO_REPOSITORY}", WITHOUT)
    try:
        top = Path(git.output("rev-parse", "--show-toplevel").removesuffix("\n"))
        if wanted.ref is not None:
            return _of_ref(wanted, wanted.ref, git, top)
        return _of_working_tree(wanted, git, top, suite_file)
    except (GitRefusedError, BenchforgeError) as error:
        if wanted.ref is not None:
            raise _WrongError("ref", f"git cannot tell: {error}", "") from error
        return wanted.unknown(f"git: {error}")


def _of_ref(wanted: _Wanted, ref: str, git: Git, top: Path) -> Code:
    if (commit := git.commit(ref)) is None:
        hint = nearest(ref, git.refs(), "any commit works; known names")
        raise _WrongError("ref", f"no commit {ref!r} in {top}", hint)
    path = wanted.folder.resolve().relative_to(top)
    if not git.has_folder(commit, path):
        message = f"{path} is not there at {ref} ({commit[:7]})"
        hint = "use the directory's name at that commit, or another commit"
        raise _WrongError("directory", message, hint)
    submodules = git.submodules(commit)
    return wanted.code(top, ref=ref, commit=commit, changed_files=0, submodules=submodules)


def _of_working_tree(wanted: _Wanted, git: Git, top: Path, suite_file: Path) -> Code:
    if (commit := git.commit("HEAD")) is None:
        return wanted.unknown("nothing is committed there yet")
    code_folder = wanted.folder.resolve()
    files = ((top / path, tracked) for path, tracked in git.changed())
    count = sum(tracked or _is_code(file, code_folder, top, suite_file) for file, tracked in files)
    return wanted.code(top, commit=commit, changed_files=count)


def _is_code(file: Path, folder: Path, top: Path, suite_file: Path) -> bool:
    """Whether a file that git does not track may be a server's code; caches and results are not."""
    if not file.is_relative_to(folder) or file == suite_file:
        return False
    path = file.relative_to(folder)
    if any(part.startswith(".") or part == "__pycache__" for part in path.parts):
        return False
    parents = file.parents[: len(file.relative_to(top).parts)]
    return not any((parent / HEADER).is_file() for parent in parents)
