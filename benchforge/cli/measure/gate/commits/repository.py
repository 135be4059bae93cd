"""The base of a gate: a commit, resolved by git without a change or a hook; or an older result."""

import contextlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchforge.errors import CannotKeep, ProgramMissing, Unusable
from benchforge.model.files.folder import read_header
from benchforge.model.suite.code import Code
from benchforge.parts.part import GIT
from benchforge.parts.registry import Registry
from benchforge.run.checkout import Git, GitRefusedError
from benchforge.run.disk.scratch import scratch_folder
from benchforge.run.locate import locate
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.sandbox.sandbox import Sandbox
from benchforge.suite.overrides import layered
from benchforge.suite.toml.document import Tables, as_table
from benchforge.suite.toml.faults import nearest
from benchforge.suite.toml.source import parsed
from benchforge.text.safe import HIDDEN

_NULL = re.compile(r"0{40,}")
_PART_OF_ID = re.compile(r"[0-9a-f]{7,39}")
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_UPSTREAM = "upstream"  # as most people call the repository that they forked
_URL = "where URL is the repository of the pull request"

_OF_THE_SUITE = ("directory", "runtime")  # the paths and environments of today
_SHOWN = 7  # digits of a commit, as git shows it


class OlderResult(NamedTuple):
    """The servers of a result that were served from one commit."""

    folder: Path
    commit: str
    servers: Mapping[str, Tables]
    reasons: Mapping[str, str]
    "Reasons why a server cannot be measured again, by its label."

    def why_not(self, label: str) -> str:
        """Return why a server cannot be measured again; empty if it can."""
        if label in self.servers:
            return ""
        return self.reasons.get(label, f"{self.folder} has no such server")

    def declared(self, label: str, table: Tables) -> Tables:
        """Return a server as it was; `table`, of the suite, says where its code is today."""
        options = {k: value for k, value in self.servers[label].items() if k not in _OF_THE_SUITE}
        return {**options, **{key: table[key] for key in _OF_THE_SUITE if key in table}}


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
    changed: bool
    "True if the working tree changes a file of the commit that the suite does not call irrelevant."
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
def base_commit(ref: str, suite: Path, irrelevant: Sequence[str]) -> Iterator[BaseCommit]:
    """Give the base of a suite's repository, checked out until the end. Raises Unusable."""
    folder = suite.resolve().parent
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
            changed = _changed(git, commit, suite.resolve().name, irrelevant)
        except GitRefusedError as error:
            raise _refused(folder, str(error)) from error
        try:
            git.check_out(commit, scratch / "base")
        except GitRefusedError as error:
            message = f"--base {ref}: git cannot check it out: {error}"
            raise CannotKeep(message, f"see the disk of {scratch}, and {top}") from error
        yield BaseCommit(ref, commit, top, scratch / "base", head, lacks, changed, sandbox, scratch)


def _changed(git: Git, commit: str, suite: str, irrelevant: Sequence[str]) -> bool:
    words = ("diff", "--name-only", "--no-ext-diff", commit, "--")
    without = (f":(top,exclude,glob){path}" for path in irrelevant)
    return bool(git.output(*words, ":(top)", *without) or git.output(*words, f":(literal){suite}"))


def _lacks(git: Git, head: str, commit: str) -> int | None:
    if not (head and is_shallow(git)):
        return int(git.output("rev-list", "--count", f"{head}..{commit}" if head else commit))
    # The oldest commits of such a clone have no parents for git; their own text names them.
    text = git.output("cat-file", "commit", head).partition("\n\n")[0].splitlines()
    parents = {line.removeprefix("parent ") for line in text if line.startswith("parent ")}
    return 0 if commit in {*git.output("rev-list", head).split(), *parents} else None


def _refused(folder: Path, reason: str) -> Unusable:
    if "dubious ownership" in reason:
        words = ["git", "config", "--global", "--add", "safe.directory", str(folder)]
        hint = f"if the files are yours: {shlex.join(words)}"
    elif "not a git repository" in reason:
        hint = "compare a suite in the working tree of a git repository, or use --against"
    else:
        hint = "see what git status prints"
    return Unusable(f"{folder}: git refuses: {reason}", hint)


def missing(ref: str, git: Git, top: Path) -> Unusable:
    """Return the error about a ref that leads to no commit, with a hint that gets it."""
    if not ref:
        hint = "name it, such as origin/main; git merge-base prints nothing in a shallow clone: "
        return Unusable("--base: empty, and no commit", f"{hint}git fetch --unshallow")
    if _NULL.fullmatch(ref):
        reason = "no commit: CI servers name it so where a new branch has none before"
        return Unusable(f"--base {ref}: {reason}", "name one, such as --base origin/main")
    message = f"--base {ref}: no such commit in {top}"
    if git.commit("HEAD") is None:
        hint = "the repository has no commit yet: git add and git commit the suite"
        return Unusable(message, hint)
    shallow = is_shallow(git)
    if shallow:
        message += ", a shallow clone"
    if shallow and ref.startswith(("HEAD~", "HEAD^")):
        return Unusable(message, "fetch more of it: git fetch --deepen=50")
    return Unusable(message, _hint(ref, git, shallow=shallow))


def is_shallow(git: Git) -> bool:
    """Return whether a clone lacks the history before some commits."""
    return git.output("rev-parse", "--is-shallow-repository").strip() == "true"


def _hint(ref: str, git: Git, *, shallow: bool) -> str:
    remotes = git.output("remote").split()
    remote = next((remote for remote in remotes if ref.startswith(f"{remote}/")), None)
    fetch = ("git", "fetch", *(["--depth=1"] if shallow else []))
    first = (remotes or ["URL"])[0]
    if remote is not None and (shallow or not _fetched_all(git, remote)):
        branch = ref.removeprefix(f"{remote}/")
        words = shlex.join([*fetch, remote, f"+refs/heads/{branch}:refs/remotes/{ref}"])
        return f"fetch it: {words}{_if_fork(remote, branch)}"
    if remote is None and ref.startswith(f"{_UPSTREAM}/"):
        branch = ref.removeprefix(f"{_UPSTREAM}/")
        return f"no remote is called {_UPSTREAM}: {_elsewhere(branch)}"
    if _ID.fullmatch(ref):
        return f"fetch it: {shlex.join([*fetch, first, ref])}{_if_fork(first, ref)}"
    if not shallow:
        return nearest(ref, git.refs(), "any commit works; known names")
    if _PART_OF_ID.fullmatch(ref):
        return "write all digits of the commit, and fetch it; or: git fetch --unshallow"
    return f"fetch it: {shlex.join([*fetch, first, '--', ref])}, then --base FETCH_HEAD"


def _if_fork(remote: str, ref: str) -> str:
    if remote == _UPSTREAM:
        return ""
    return f"; if {remote} is a fork that lacks it: {_elsewhere(ref)}"


def _elsewhere(branch: str) -> str:
    words = shlex.join(["git", "fetch", "--depth=1", "URL", branch])
    return f"{words}, then --base FETCH_HEAD, {_URL}"


def _fetched_all(git: Git, remote: str) -> bool:
    """Return whether the branches of a remote are here: a clone of one branch has no others."""
    try:
        specs = git.output("config", "--get-all", f"remote.{remote}.fetch")
    except GitRefusedError:
        return False
    fetched = git.output("for-each-ref", "--count=1", f"refs/remotes/{remote}/")
    return "refs/heads/*:" in specs and fetched != ""


def older_result(folder: Path, registry: Registry) -> OlderResult:
    """Read which code and options the servers of a result had.

    Raises Unusable for a result of which no server can be measured again, and as `read_header`.
    """
    header = read_header(folder)
    written = parsed(f"the suite of {folder}", header.suite)
    settings = tuple(header.settings.items())
    declared = as_table(layered(written, header.profile, settings, registry).tables["servers"])
    working_trees_first = sorted(header.code, key=lambda code: code.ref is not None)
    commit = next((code.commit for code in working_trees_first if code.rebuilds), None)
    servers: dict[str, Tables] = {}
    reasons: dict[str, str] = {}
    for label in dict.fromkeys(case.server for case in header.cases):
        table = as_table(declared.get(label))
        codes = [code for code in header.code if code.server == label]
        if reason := _why_not(table, codes, commit):
            reasons[label] = reason
        else:
            servers[label] = table
    if commit is None or not servers:
        listed = "; ".join(f"servers.{label}: {reason}" for label, reason in reasons.items())
        hint = "measure a commit: commit what is changed, or name it with 'ref', and run again"
        raise Unusable(f"--base {folder}: nothing can be measured again: {listed}", hint)
    return OlderResult(folder, commit, servers, reasons)


def _why_not(table: Tables, codes: list[Code], commit: str | None) -> str:
    if not codes:
        return "no commit was recorded"
    if len(codes) > 1:
        return "its ref varied"
    (code,) = codes
    if not code.rebuilds:
        return f"it was the {code.in_words}"
    if code.commit != commit:
        return f"it was {code.in_words}, and others were at {str(commit)[:7]}"
    return "the result does not contain its secret" if HIDDEN in str(table) else ""
