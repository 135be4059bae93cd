"""Servers whose code is a commit: does it lie in a repository, as far as a look tells."""

from collections.abc import Mapping
from pathlib import Path

from benchforge.parts.part import ServesCode
from benchforge.suite.complaints import Complaints
from benchforge.suite.suite import Declared

NO_REPOSITORY = "not in a git repository"
WITHOUT = "name a directory that is in one, or leave 'ref' out: then it is served as it lies"


def check_refs(servers: Mapping[str, Declared], folder: Path, complaints: Complaints) -> None:
    """Complain of each server that names a commit where there is no repository.

    `folder` is the suite's. Whether there is such a commit, git alone can tell, when it is run.
    """
    for label, one in servers.items():
        if not isinstance(one.part, ServesCode) or one.part.ref is None:
            continue
        code = one.part.code(folder)
        if code is not None and repository(code) is None:
            complaints.at(("servers", label, "ref"), f"{code}: {NO_REPOSITORY}", WITHOUT)


def repository(folder: Path) -> Path | None:
    """Return the folder with `.git` that a folder is in, or would be; None where there is none."""
    folder = folder.resolve()
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
