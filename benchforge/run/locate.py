"""Places of programs: on PATH, where Debian hides them, or unpacked below a folder of ours."""

import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import benchforge
from benchforge.parts.command import Command, Need

# Programs that must come from one place, the one that says which place first. Debian's `psql` on
# PATH is a script that chooses a version of its own.
_FAMILY = ("postgres", "initdb", "pg_ctl", "pg_isready", "psql")
_SYSTEM = Path("/")


def locate(name: str, folder: Path = Path()) -> Path | None:
    """Return where a program is, None when it is nowhere.

    Looked at in this order: PATH; /usr/lib/postgresql, the highest version first; /usr/sbin; beside
    our own interpreter; .tools/uv; and as roots of unpacked packages $BENCHFORGE_PROGRAMS,
    .tools/system beside the virtual environment, benchforge/system in $XDG_DATA_HOME. A name with a
    slash is a path from `folder`.
    """
    if "/" in name:
        path = (folder / name).absolute()
        return path if _runs(path) else None
    return _of_family(name) if name in _FAMILY else next(everywhere(name), None)


def libraries(program: Path) -> dict[str, str]:
    """Return the environment that an unpacked program needs; nothing for an installed one."""
    for root in _unpacked():
        if program.is_absolute() and _lies_in(root, program):
            return {"LD_LIBRARY_PATH": ":".join(map(str, _library_folders(root)))}
    return {}


def with_libraries(command: Command) -> Command:
    """Return the command with the libraries of an unpacked program that it starts.

    That is its first word, or a later one, as with sh -c '"$0" -v' PROGRAM.
    """
    first, *words = command.argv
    roots = tuple(f"{root}/" for root in _unpacked())
    inner = (Path(word) for word in words if word.startswith(roots))
    needed = libraries(Path(first)) or next(map(libraries, inner), {})
    return Command(
        *command.argv,
        environment=needed | dict(command.environment),
        folder=command.folder,
        ordinary_user=command.ordinary_user,
        stdin=command.stdin,
    )


def _library_folders(root: Path) -> Iterator[Path]:
    """Yield the folders of libraries below a root; Debian's older packages use /lib."""
    for folder in (root / "usr/lib", root / "lib"):
        if folder.is_dir():
            yield from (*sorted(folder.glob("*-linux-gnu*")), folder)


def missing(needs: Iterable[Need], folder: Path = Path()) -> list[Need]:
    """Return the needs that are not there; modules are those of our own interpreter."""
    return [
        need
        for need in needs
        if (need.kind == "program" and locate(need.name, folder) is None)
        or (need.kind == "module" and not _importable(need.name))
    ]


def _of_family(name: str) -> Path | None:
    folders = [leader.resolve().parent for leader in everywhere(_FAMILY[0])]
    if not folders:
        return next(everywhere(name), None)
    complete = (folder for folder in folders if all(_runs(folder / member) for member in _FAMILY))
    program = next(complete, folders[0]) / name
    return program if _runs(program) else None


def _lies_in(root: Path, program: Path) -> bool:
    """Whether a program is of a root, by its path or by where its links lead: see venv."""
    return program.is_relative_to(root) or program.resolve().is_relative_to(root.resolve())


def everywhere(name: str) -> Iterator[Path]:
    """Yield every program of that name, the preferred one first."""
    on_path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    # Debian has programs for administrators where not every user's PATH leads; the last two are of
    # programs that came with us: by pip, or by the setup of a clone.
    brought = Path(sys.executable).parent, Path(sys.prefix).parent / ".tools/uv/bin"
    usual = (*_postgresql(_SYSTEM), _SYSTEM / "usr/sbin", *brought)
    for folder in (*map(Path, filter(None, on_path)), *usual):
        if _runs(folder / name):
            yield (folder / name).absolute()
    for root in _unpacked():
        for folder in (root / "usr/bin", root / "usr/sbin", *_postgresql(root)):
            if _runs(folder / name):
                yield folder / name


def _postgresql(root: Path) -> list[Path]:
    """Return the folders where Debian keeps each version's programs, the highest first."""
    folders = (root / "usr/lib/postgresql").glob("*/bin")
    versions = {folder: re.findall(r"\d+", folder.parent.name) for folder in folders}
    return sorted(versions, key=lambda folder: [*map(int, versions[folder])], reverse=True)


def unpack_into() -> Path:
    """Return the root where packages are to be unpacked: the wished one, in a clone the clone's."""
    in_clone = Path(benchforge.__file__).parents[1] == Path(sys.prefix).parent
    return _wished() or (_beside() if in_clone else _of_user())


def _unpacked() -> list[Path]:
    return [folder for folder in (_wished(), _beside(), _of_user()) if folder is not None]


def _wished() -> Path | None:
    wished = os.environ.get("BENCHFORGE_PROGRAMS")
    return Path(wished).absolute() if wished else None


def _beside() -> Path:
    return Path(sys.prefix).parent / ".tools/system"


def _of_user() -> Path:
    home = Path(os.environ.get("HOME") or "/")
    data = os.environ.get("XDG_DATA_HOME") or home / ".local/share"
    return Path(data).absolute() / "benchforge/system"


def _runs(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except PermissionError:  # PATH may name folders that are closed to us
        return False


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # the package of a dotted name is not there, or is broken
        return False
