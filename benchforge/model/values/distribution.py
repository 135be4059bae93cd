"""The distribution benchforge-http. `benchforge` on the package index is somebody else's."""
# ruff: noqa: PLC0415 - importlib.metadata takes as long as click, and --help seldom needs it

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoints

DISTRIBUTION = "benchforge-http"
"The import package and the command are called benchforge."


def own_distribution() -> "Distribution":
    """Return what is installed of us. Raises Unusable where our code lies without its metadata."""
    from importlib import metadata

    from benchforge.errors import Unusable

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
    try:
        return any(any(_infos(folder, "entry_points.txt", f"[{group}]")) for folder in sys.path)
    except NotADirectoryError:  # an archive
        return True


def _infos(folder: str, file: str, text: str) -> Iterator[str]:
    """Yield the folders of metadata in a folder, such as one of sys.path, whose file has a text."""
    folder = folder or "."
    if not os.path.exists(folder):  # noqa: PTH110 - pathlib takes longer than all else
        return
    for name in os.listdir(folder):  # noqa: PTH208
        if name.endswith("-info"):
            with suppress(OSError), open(f"{folder}/{name}/{file}", "rb") as content:  # noqa: PTH123
                if text.encode() in b"\n" + content.read():
                    yield f"{folder}/{name}"


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
    own = "benchforge/__init__.py"
    folders = (folder for folder in sys.path if os.path.exists(f"{folder or '.'}/{own}"))  # noqa: PTH110
    for folder in folders:
        for info in _infos(folder, "RECORD", "\nbenchforge/"):
            from importlib import metadata

            installed = metadata.Distribution.at(info)
            if installed.name != DISTRIBUTION:
                yield f"{installed.name} {installed.version}"
