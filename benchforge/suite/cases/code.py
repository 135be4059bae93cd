"""Code that servers serve, where it lies or as a commit: is it there, before anything starts."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from benchforge.parts.fillable import WrongOption
from benchforge.parts.part import ServesCode
from benchforge.suite.cases.parts import parts_by_scenario
from benchforge.suite.suite import Declared, Suite
from benchforge.suite.toml.faults import Fault

NO_REPOSITORY = "not in a git repository"
WITHOUT = "name a directory in a git repository, or leave 'ref' out to serve the files as they are"


def ref_faults(servers: Mapping[str, Declared], folder: Path) -> Iterator[Fault]:
    """Yield a fault for each server that names a commit where there is no repository.

    `folder` is the suite's. Whether there is such a commit, git alone can tell, when it is run.
    """
    for label, declaration in servers.items():
        if not isinstance(declaration.part, ServesCode) or declaration.part.ref is None:
            continue
        code = declaration.part.code(folder)
        if code is not None and repository(code) is None:
            yield Fault(("servers", label, "ref"), f"{code}: {NO_REPOSITORY}", WITHOUT)


def repository(folder: Path) -> Path | None:
    """Return the folder with `.git` that a folder is in, or would be; None where there is none."""
    folder = folder.resolve()
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def code_faults(suite: Suite) -> Iterator[Fault]:
    """Yield a fault for each server whose code is not there, at all points of the matrix.

    What a commit has, git alone can tell, when it is run.
    """
    for _, place, part in parts_by_scenario(suite):
        if not isinstance(part, ServesCode) or part.ref is not None:
            continue
        try:
            part.check_code(suite.path.parent)
        except WrongOption as error:
            table, _, label = place.partition(".")
            written = (one for one in error.options if one in part.model_fields_set)
            yield Fault((table, label, *islice(written, 1)), error.message, error.hint)
