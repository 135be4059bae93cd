"""Which distribution we are. `benchforge` on the package index is somebody else's."""

import importlib.metadata
from collections.abc import Iterator

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


def rivals() -> Iterator[str]:
    """Yield each other distribution that brings a package `benchforge`, with its version."""
    for installed in importlib.metadata.distributions():
        files = f"\n{installed.read_text('RECORD') or ''}"
        if "\nbenchforge/" in files and installed.name != DISTRIBUTION:
            yield f"{installed.name} {installed.version}"
