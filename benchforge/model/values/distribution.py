"""Which distribution we are. `benchforge` on the package index is somebody else's."""
# ruff: noqa: PLC0415 - importlib.metadata takes as long as click, and --help seldom needs it

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from benchforge.errors import Unusable

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoints

DISTRIBUTION = "benchforge-http"
"The import package and the command are called benchforge."


def own_distribution() -> "Distribution":
    """Return what is installed of us. Raises Unusable where our code lies without its metadata."""
    from importlib import metadata

    try:
        return metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        hint = "install it, in a clone of benchforge: make setup"
        raise Unusable(f"{DISTRIBUTION} is not installed: only its code is here", hint) from None


def from_clone(extra: str) -> str:
    """Return how to get an extra. There is no release yet: the index would give somebody else's."""
    return f"pip install '.[{extra}]', in a clone of benchforge"


def own_version() -> str:
    """Return our version. Raises Unusable as `own_distribution`."""
    return own_distribution().version


def brings(group: str) -> bool:
    """Return True if a package may have entry points of a group: sooner than `entry_points`."""
    for folder in map(Path, sys.path):
        if folder.is_file():  # an archive
            return True
        for file in folder.glob("*-info/entry_points.txt"):
            if f"[{group}]" in file.read_text(encoding="utf-8", errors="replace"):
                return True
    return False


def entry_points(group: str) -> "EntryPoints":
    """Return the entry points of a group. A command reads those of all packages once."""
    return _all_entry_points(tuple(sys.path)).select(group=group)


@cache
def _all_entry_points(path: tuple[str, ...]) -> "EntryPoints":
    from importlib import metadata

    # Python 3.11 has a type of its own for all groups, which later versions lack.
    return cast("EntryPoints", metadata.entry_points())


def rivals() -> Iterator[str]:
    """Yield each other distribution that brings a package `benchforge`, with its version.

    Its metadata is beside that package, so no other folder is read.
    """
    from importlib import metadata

    folders = [folder for folder in sys.path if Path(folder, "benchforge/__init__.py").exists()]
    for installed in metadata.distributions(path=folders):
        files = f"\n{installed.read_text('RECORD') or ''}"
        if "\nbenchforge/" in files and installed.name != DISTRIBUTION:
            yield f"{installed.name} {installed.version}"
