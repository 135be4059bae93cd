"""The packages of both commits: each from its own lock file, in an environment that is kept.

The environments are runtimes of the suite, which are built and cached by what they require.
"""

import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from benchforge.cli.measure.gate.commits.repository import BaseCommit
from benchforge.cli.measure.gate.pairs import base_label
from benchforge.errors import ProgramMissing, Unusable
from benchforge.model.suite.code import Runtime
from benchforge.parts.command import Command
from benchforge.parts.part import RunsPython
from benchforge.run.locate import locate
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import Tables, as_table
from benchforge.text.readable import counted

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
    """A lock file, and its pins."""

    file: str
    "Path of the file, relative to the top of the repository."
    pins: tuple[str, ...]
    "Requirements, each with one version."


def nearest(folder: Path, top: Path, names: tuple[str, ...] = NAMES) -> Path | None:
    """Return the lock file in a folder or the nearest one above it, up to the top."""
    places = [folder, *folder.parents]
    for folder_ in places[: places.index(top) + 1] if top in places else [folder]:
        for name in names:
            if (folder_ / name).is_file():
                return folder_ / name
    return None


def of_requirements(name: str, read: Read) -> tuple[str, ...]:
    """Return the pins of a requirements file and its includes. Raises NotPinnedError, OSError."""
    return tuple(dict.fromkeys(_pins(name, read, [])))


def of_poetry(text: str) -> tuple[str, ...]:
    """Return the pins of a poetry.lock's main group, without extras. Raises NotPinnedError."""
    try:
        packages = tomllib.loads(text).get("package", [])
        return tuple(
            _of_package(package)
            for package in packages
            if not package.get("optional", False) and "main" in package.get("groups", ["main"])
        )
    except (tomllib.TOMLDecodeError, AttributeError, TypeError, KeyError) as error:
        raise NotPinnedError(f"{POETRY} cannot be read: {error}") from error


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


def _pins(name: str, read: Read, including: list[str]) -> Iterator[str]:
    if name in including or len(including) >= _MOST_FILES:
        raise NotPinnedError(f"{name}: includes itself")
    joined = re.sub(r"\\\r?\n", " ", read(name))
    for line in joined.splitlines():
        wanted = _IGNORED.sub("", re.sub(r"(^|\s)#.*", "", line)).strip()
        if not wanted:
            continue
        if match := _INCLUDED.fullmatch(wanted):
            included = PurePosixPath(name).parent / match[1]
            if included.is_absolute() or ".." in included.parts:
                raise NotPinnedError(f"{name}: {wanted!r} is outside its folder")
            yield from _pins(str(included), read, [*including, name])
        elif _PIN.fullmatch(wanted):
            yield wanted
        else:
            raise NotPinnedError(f"{name}: {wanted[:80]!r} is not pinned with ==")


_MOST_BYTES = 16 * 1024 * 1024
_EXPORTED_WITHIN_S = 120.0
_EXPORT = ("export", "--frozen", "--no-dev", "--no-hashes", "--no-header", "--no-annotate")
_LEFT_OUT = ("--no-emit-project", "--no-emit-workspace", "--quiet")


class Packages:
    """The packages of the servers of a gate."""

    def __init__(self, suite: Suite, base: BaseCommit, lock: str | None) -> None:
        self._suite, self._base, self._lock = suite, base, lock
        self._read: dict[Path, Lock | str] = {}
        self.lines: dict[str, None] = {}
        "For a person: where packages come from."

    def given_to(self, tables: Tables, folders: Mapping[str, Path]) -> Tables:
        """Return the tables of a gate with the packages of both commits."""
        servers, runtimes = {**as_table(tables["servers"])}, {**as_table(tables.get("runtimes"))}
        for label, folder in folders.items():
            part = self._suite.servers[label].part
            if not isinstance(part, RunsPython) or not part.starts_python():
                self.lines[f"servers.{label}: a command: both commits run on what it starts"] = None
                continue
            named = self._suite.runtimes.get(part.runtime or "")
            if named is not None and named.requires:
                same = f"both commits have the packages of {part.runtime}"
                self.lines[f"servers.{label}: {same}"] = None
                continue
            locks = self._locks(label, folder)
            for side, lock in zip((label, base_label(label)), locks, strict=False):
                runtime, table = _runtime(named, lock)
                runtimes[runtime] = table
                servers[side] = {**as_table(servers[side]), "runtime": runtime}
        return {**tables, "servers": servers, **({"runtimes": runtimes} if runtimes else {})}

    def _locks(self, label: str, folder: Path) -> list[Lock]:
        """Return the locks of head and base; none where head has none."""
        top, base = self._base.top.resolve(), self._base.folder
        head = self._at(top, folder)
        if isinstance(head, str):
            unseen = "a change of its packages is not measured"
            self.lines[f"servers.{label} has {head}: {unseen}"] = None
            return []
        older = self._at(base, base / folder.relative_to(top))
        if isinstance(older, str):
            has = f"it has those of {head.file}"
            self.lines[f"servers.{label}: {older} at the base: {has}"] = None
            return [head, head]
        same = "the same" if head.pins == older.pins else "others"
        pinned = counted(len(head.pins), "package")
        self.lines[f"servers.{label}: {pinned} of {head.file}; {same} at the base"] = None
        return [head, older]

    def _at(self, top: Path, folder: Path) -> Lock | str:
        """Return the lock for a folder below a top, or why there is none."""
        if self._lock is None:
            file = nearest(folder, top)
        else:
            file = top / self._lock
            if not file.is_file() or not file.resolve().is_relative_to(top.resolve()):
                if top == self._base.top.resolve():
                    hint = f"name a file below {top}"
                    raise Unusable(f"--lock {self._lock}: no such file in the repository", hint)
                file = None
        if file is None:
            return "no lock file" + ("" if self._lock else f" ({', '.join(NAMES)})")
        if file not in self._read:
            self._read[file] = self._lock_of(file, top)
        return self._read[file]

    def _lock_of(self, file: Path, top: Path) -> Lock | str:
        name = str(file.relative_to(top))
        try:
            return Lock(name, self._pins(file))
        except (NotPinnedError, OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            if self._lock is not None:
                raise Unusable(f"--lock {name}: {reason}", "pin each package with ==") from error
            return f"no lock file: {reason}"

    def _pins(self, file: Path) -> tuple[str, ...]:
        if file.name == UV:
            return of_requirements(UV, lambda _: self._exported(file.parent))
        if file.name == POETRY:
            return of_poetry(_text(file))
        return of_requirements(file.name, lambda name: _text(file.parent / name))

    def _exported(self, project: Path) -> str:
        """Return uv's export of a project. Raises NotPinnedError without one."""
        uv = locate("uv")
        if uv is None:
            raise ProgramMissing(f"{UV}: uv is missing", "pip install uv")
        scratch = self._base.scratch / f"export-{len(self._read)}"
        scratch.mkdir()
        words = uv, *_EXPORT, *_LEFT_OUT, "--project", project, "--python", sys.executable
        variables = {"UV_CACHE_DIR": str(scratch / "cache"), "HOME": str(scratch)}
        command, run = Command(*words), self._base.sandbox.run
        done = run("export", command, scratch, variables, _EXPORTED_WITHIN_S)
        if done.code:
            lines = [line for line in done.complained.splitlines() if line.strip()]
            raise NotPinnedError(f"{UV}: uv cannot export it: {' '.join(lines[:2])}")
        return done.printed


def _runtime(named: Runtime | None, lock: Lock) -> tuple[str, Tables]:
    python = sys.executable if named is None else named.python
    digest = hashlib.sha256(json.dumps([python, lock.pins]).encode()).hexdigest()[:8]
    table: Tables = {"python": python, "requires": [*lock.pins]}
    if named is not None and named.download:
        table["download"] = True
    return f"lock-{digest}", table


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        content = opened.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise NotPinnedError(f"{file.name}: more than {_MOST_BYTES // 1024**2} MiB")
    return content.decode()
