"""Which distribution we are. `benchforge` on the package index is somebody else's."""
# ruff: noqa: PLC0415 - importlib.metadata takes as long as click, and --help seldom needs it

import os
import sys
from collections.abc import Iterator
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
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208 - pathlib takes longer than all else
        except NotADirectoryError:  # an archive
            return True
        except OSError:
            continue
        for name in names:
            if name.endswith("-info") and _has(
                f"{folder or '.'}/{name}/entry_points.txt", f"[{group}]"
            ):
                return True
    return False


def _has(path: str, text: str) -> bool:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    with open(file, "rb") as content:  # noqa: PTH123
        return text.encode() in content.read()


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
    for folder in sys.path:
        if not os.path.exists(f"{folder or '.'}/benchforge/__init__.py"):  # noqa: PTH110 - as above
            continue
        for name in os.listdir(folder or "."):  # noqa: PTH208
            info = f"{folder or '.'}/{name}"
            if name.endswith(".dist-info") and _has(f"{info}/RECORD", "benchforge/__init__.py,"):
                from importlib import metadata

                installed = metadata.Distribution.at(info)
                if installed.name != DISTRIBUTION:
                    yield f"{installed.name} {installed.version}"
