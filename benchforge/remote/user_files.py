"""The user's own files that a host needs: code, data and feeds, as one archive.

They are named from the folder that holds all: the suite's relative paths stay.
"""

import ast
import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchforge.errors import Unusable
from benchforge.remote.archive import Archive, packed
from benchforge.suite.measuring.host_faults import entries, prefixed, within


@dataclass(frozen=True)
class UserFiles:
    """The files for one host, and where the suite is among them."""

    files: Archive
    suite: str
    trees: Sequence[tuple[str | None, str, str, str]] = ()
    "Directory and ref of each commit in the suite, and where repository and checkout are."


Checkouts = Mapping[tuple[str | None, str], tuple[Path, Path]]


def user_files(suite: Path, roots: Iterable[Path], checkouts: Checkouts) -> UserFiles:
    """Return the files below `roots`, which a suite names relative to its folder.

    `checkouts` are repository and checkout by directory and ref. Raises Unusable.
    """
    files: dict[str, Path | str] = {}
    trees: list[tuple[str | None, str, str, str]] = []
    try:
        folder = Path(os.path.normpath(suite.parent.resolve()))
        named = {Path(os.path.normpath(folder / root)) for root in roots}
        repositories = {repository for repository, _ in checkouts.values()}
        top = Path(os.path.commonpath([folder, *named, *repositories]))
        for root in sorted(named):
            files.update(prefixed(root.relative_to(top), entries(root)))
        for number, ((directory, ref), (repository, checkout)) in enumerate(checkouts.items()):
            target = Path(f".commit-{number}")
            files.update(prefixed(target, entries(checkout)))
            trees.append((directory, ref, str(repository.relative_to(top)), str(target)))
        within(files)
        archive = packed(files)
    except OSError as error:
        raise Unusable(f"{error.filename}: {error.strerror}", "hosts need this file") from error
    return UserFiles(archive, str(folder.relative_to(top) / suite.name), trees)


def imported(files: Iterable[Path]) -> Iterator[str]:
    """Yield the modules that Python files import by name."""
    for file in files:
        with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError):
            for node in ast.walk(ast.parse(file.read_bytes())):
                if isinstance(node, ast.Import):
                    yield from (name.name for name in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    yield node.module
