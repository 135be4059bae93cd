"""Which distribution we are. `benchforge` on the package index is somebody else's."""

import importlib.metadata
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

from benchforge.errors import Unusable

DISTRIBUTION = "benchforge-http"
"The import package and the command are called benchforge."


def own_distribution() -> importlib.metadata.Distribution:
    """Return what is installed of us. Raises Unusable where our code lies without its metadata."""
    try:
        return importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        hint = "install it, in a clone of benchforge: make setup"
        raise Unusable(f"{DISTRIBUTION} is not installed: only its code is here", hint) from None


def from_clone(extra: str) -> str:
    """Return how to get an extra. There is no release yet: the index would give somebody else's."""
    return f"pip install '.[{extra}]', in a clone of benchforge"


def own_version() -> str:
    """Return our version. Raises Unusable as `own_distribution`."""
    return own_distribution().version


def entry_points(group: str) -> importlib.metadata.EntryPoints:
    """Return the entry points of a group. A command reads those of all packages once."""
    return _all_entry_points(tuple(sys.path)).select(group=group)


@cache
def _all_entry_points(path: tuple[str, ...]) -> importlib.metadata.EntryPoints:
    # Python 3.11 has a type of its own for all groups, which later versions lack.
    return cast("importlib.metadata.EntryPoints", importlib.metadata.entry_points())


def rivals() -> Iterator[str]:
    """Yield each other distribution that brings a package `benchforge`, with its version.

    Its metadata is beside that package, so no other folder is read.
    """
    folders = [folder for folder in sys.path if Path(folder, "benchforge/__init__.py").exists()]
    for installed in importlib.metadata.distributions(path=folders):
        files = f"\n{installed.read_text('RECORD') or ''}"
        if "\nbenchforge/" in files and installed.name != DISTRIBUTION:
            yield f"{installed.name} {installed.version}"
