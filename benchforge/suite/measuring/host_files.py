"""Which of the user's files a host can get: how many, how large, and what is left out."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from benchforge.errors import Unusable
from benchforge.model.files.folder import HEADER
from benchforge.model.trial.observation import Role
from benchforge.suite.scenarios.upstreams import reached
from benchforge.suite.suite import Declared, Scenario, Suite
from benchforge.text.readable import conjoined, exact

LARGEST, MOST = 256 << 20, 50_000
"Bytes and files of all that one host gets."
_LEFT_OUT = frozenset(
    (".git", ".hg", ".svn", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox")
)
_ENVIRONMENT = "pyvenv.cfg"
_SHOWN = 3

ROLES: Mapping[str, Role] = {
    "servers": "server",
    "backends": "backend",
    "loaders": "loader",
    "clients": "loader",
}
"Role of the parts that a scenario names, by their table."


def check(roots: Iterable[Path]) -> None:
    """Raise Unusable for what cannot be brought."""
    try:
        for root in roots:
            within(dict(prefixed(Path(root.name), entries(root))))
    except OSError as error:
        raise Unusable(f"{error.filename}: {error.strerror}", "hosts need this file") from error


def within(files: Mapping[str, Path | str]) -> None:
    """Raise Unusable for more files or bytes than a host gets, with those that take most."""
    sizes = {name: file.stat().st_size for name, file in files.items() if isinstance(file, Path)}
    if sum(sizes.values()) <= LARGEST and len(files) <= MOST:
        return
    below: dict[str, int] = {}
    for name, size in sizes.items():
        above = str(Path(*Path(name).parts[:2])) if "/" in name else name
        below[above] = below.get(above, 0) + size
    largest = sorted(below, key=lambda name: -below[name])[:_SHOWN]
    shown = conjoined([f"{name} ({below[name] >> 20} MiB)" for name in largest])
    all_of_them = f"{exact(len(files))} files of {sum(sizes.values()) >> 20} MiB"
    raise Unusable(
        f"{all_of_them} are more than a host gets: {exact(MOST)} files of {LARGEST >> 20} MiB",
        f"let directory name the folder of the app alone; largest: {shown}",
    )


def entries(root: Path) -> Iterator[tuple[str, Path | str]]:
    """Yield what is brought of a file or folder: each file, and each link as what it leads to.

    Names are relative to it. Left out are repositories, environments, caches and our own results.
    Raises Unusable for what holds on this machine only.
    """
    if any((one / _ENVIRONMENT).is_file() for one in (root, *root.parents)):
        hint = 'name a runtime, and write {python}: command = ["{python}", ...]'
        raise Unusable(f"{root} is in a virtual environment, which holds on its machine only", hint)
    if root.is_file():
        yield "", root
        return
    real = root.resolve()
    for above, folders, names in os.walk(real):
        folders[:] = sorted(one for one in folders if not _is_left_out(Path(above), one))
        links = [one for one in folders if (Path(above) / one).is_symlink()]
        for name in sorted([*names, *links]):
            path = Path(above) / name
            entry = _link(path, real) if path.is_symlink() else path
            if entry is not None and (isinstance(entry, str) or entry.is_file()):
                yield str(path.relative_to(real)), entry


def _is_left_out(above: Path, name: str) -> bool:
    path = above / name
    return name in _LEFT_OUT or (path / _ENVIRONMENT).is_file() or (path / HEADER).is_file()


def _link(path: Path, root: Path) -> Path | str | None:
    """Return what a link becomes: a link below the root, a file from elsewhere, or nothing."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):  # it leads nowhere
        return None
    if target.is_relative_to(root):
        return os.path.relpath(target, path.parent)
    if target.is_file():
        return target
    hint = "copy that folder, or name another directory that holds both"
    raise Unusable(f"{path} is a link to a folder outside of {root}: {target}", hint)


def prefixed(place: Path, of: Iterable[tuple[str, Path | str]]) -> Iterator[tuple[str, Path | str]]:
    """Yield files by their names below a place."""
    for name, entry in of:
        yield str(place / name), entry


class UsedPart(NamedTuple):
    """A part that a scenario starts."""

    role: Role
    table: str
    part: Declared
    hosts: tuple[str, ...]
    "Several for a load that is divided, none for benchforge's own machine."


def used(suite: Suite, scenario: Scenario) -> Iterator[UsedPart]:
    """Yield all parts that a scenario names, and the servers behind those."""
    for table, role in ROLES.items():
        for label in getattr(scenario, table):
            if (part := getattr(suite, table).get(label)) is not None:
                yield UsedPart(role, table, part, suite.hosts_of(role, part))
    for label in reached(scenario, suite.servers).labels:
        part = suite.servers[label]
        yield UsedPart("upstream", "servers", part, suite.hosts_of("upstream", part))
