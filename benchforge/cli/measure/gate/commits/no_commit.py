"""Why a repository lacks the base of a gate, and what fetches it: most CI servers clone little."""

import re
import shlex
from pathlib import Path

from benchforge.errors import Unusable
from benchforge.run.checkout.git import Git, GitRefusedError
from benchforge.suite.toml.faults import nearest

_NULL = re.compile(r"0{40,}")
_PART_OF_ID = re.compile(r"[0-9a-f]{7,39}")
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_UPSTREAM = "upstream"  # as most people call the repository that they forked
_URL = "where URL is the repository of the pull request"


def missing(ref: str, git: Git, top: Path) -> Unusable:
    """Return the error about a ref that leads to no commit, with a hint that gets it."""
    if not ref:
        hint = "name it, such as origin/main; git merge-base prints nothing in a shallow clone: "
        return Unusable("--base: empty, and no commit", f"{hint}git fetch --unshallow")
    if _NULL.fullmatch(ref):
        why = "no commit: CI servers name it so where a new branch has none before"
        return Unusable(f"--base {ref}: {why}", "name one, such as --base origin/main")
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
    remote = next((one for one in remotes if ref.startswith(f"{one}/")), None)
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
