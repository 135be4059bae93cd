"""Lock files: the pinned packages that a commit of an app runs with."""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

UV, POETRY = "uv.lock", "poetry.lock"
NAMES = (UV, POETRY, "requirements.lock", "requirements.txt")
"Lock files that are looked for, the surest first."

_NAME = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_PIN = re.compile(rf"{_NAME}\s*(\[[\w\s,.-]*\])?\s*==\s*[\w.!+-]+\s*(;[^#]+)?", re.ASCII)
_INCLUDED = re.compile(r"(?:-r|--requirement)[\s=]+(\S+)")
_IGNORED = re.compile(r"\s+--hash[=\s]\S+")
_MOST_FILES = 20

Read = Callable[[str], str]
"Text of a file of the commit, by its path below the lock file's folder. Raises OSError."


class NotPinnedError(Exception):
    """A file that does not pin all packages, with the place."""


class Lock(NamedTuple):
    """A lock file, and what it pins."""

    file: str
    "Path of the file, relative to the top of the repository."
    pins: tuple[str, ...]
    "Requirements, each with one version."


def nearest(folder: Path, top: Path, names: tuple[str, ...] = NAMES) -> Path | None:
    """Return the lock file in a folder or the nearest one above it, up to the top."""
    places = [folder, *folder.parents]
    for place in places[: places.index(top) + 1] if top in places else [folder]:
        for name in names:
            if (place / name).is_file():
                return place / name
    return None


def of_requirements(name: str, read: Read) -> tuple[str, ...]:
    """Return the pins of a requirements file and of those that it includes.

    Raises NotPinnedError for a line that is no pin, and OSError.
    """
    return tuple(dict.fromkeys(_pins(name, read, [])))


def of_poetry(text: str) -> tuple[str, ...]:
    """Return the pins of a poetry.lock: those of the main group, without extras.

    Raises NotPinnedError for what is not such a file.
    """
    try:
        packages = tomllib.loads(text).get("package", [])
        return tuple(
            _of_package(one)
            for one in packages
            if not one.get("optional", False) and "main" in one.get("groups", ["main"])
        )
    except (tomllib.TOMLDecodeError, AttributeError, TypeError, KeyError) as error:
        raise NotPinnedError(f"{POETRY} cannot be read: {error}") from error


def of_export(printed: str) -> tuple[str, ...]:
    """Return the pins that `uv export` prints. Raises NotPinnedError for a package by its path."""
    return of_requirements(UV, lambda _: printed)


def _of_package(package: Any) -> str:
    source = package.get("source", {}).get("type", "legacy")
    name, version = str(package["name"]), str(package["version"])
    if source not in {"legacy", "pypi"}:
        raise NotPinnedError(f"{POETRY}: {name} comes from {source!r}, not from an index")
    markers = package.get("markers", "")
    marker = markers if isinstance(markers, str) else markers.get("main", "")
    pin = f"{name}=={version}" + (f" ; {marker}" if marker else "")
    if not _PIN.fullmatch(pin):
        raise NotPinnedError(f"{POETRY}: {pin!r} is no pinned package")
    return pin


def _pins(name: str, read: Read, above: list[str]) -> Iterator[str]:
    if name in above or len(above) >= _MOST_FILES:
        raise NotPinnedError(f"{name}: includes itself")
    joined = re.sub(r"\\\r?\n", " ", read(name))
    for line in joined.splitlines():
        wanted = _IGNORED.sub("", re.sub(r"(^|\s)#.*", "", line)).strip()
        if not wanted:
            continue
        if match := _INCLUDED.fullmatch(wanted):
            beside = PurePosixPath(name).parent / match[1]
            if beside.is_absolute() or ".." in beside.parts:
                raise NotPinnedError(f"{name}: {wanted!r} is outside its folder")
            yield from _pins(str(beside), read, [*above, name])
        elif _PIN.fullmatch(wanted):
            yield wanted
        else:
            raise NotPinnedError(f"{name}: {wanted[:80]!r} is not pinned with ==")
