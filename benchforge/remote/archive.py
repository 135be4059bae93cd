"""Files that benchforge brings to a host: its own packages, those that parts import, the user's.

Files are named as below site-packages; their digest names them. An archive of the user's files is
kept on the host under its digest, and unpacked anew for each run.
"""

import base64
import hashlib
import importlib.metadata
import io
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import benchforge
from benchforge.errors import ProgramMissing, Unusable
from benchforge.model.values.distribution import own_distribution
from benchforge.run.disk.leftovers import cache

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)(.*)$")
_LEFT_OUT = ("__pycache__", ".pyc", ".pth")
_KEPT = 4
"Archives of earlier runs that stay on a host."


class Archive(NamedTuple):
    """Files for hosts, packed."""

    digest: str
    packed: bytes


def archive(modules: Iterable[str], imported: Iterable[str] = ()) -> Archive:
    """Return benchforge with what it imports, and the packages of modules.

    `imported` are modules of the user's code, which a package here may bring. Raises ProgramMissing
    for one of `modules` that is not installed.
    """
    files = dict(_own_files())
    by_module = importlib.metadata.packages_distributions()
    modules_found = {module for module in imported if module.partition(".")[0] in by_module}
    for distribution in _distributions([*modules, *sorted(modules_found)]):
        files.update(_files_of(distribution))
    return packed(files)


def packed(files: Mapping[str, Path | str]) -> Archive:
    """Return files by their names; a text is the target of a link. Raises Unusable."""
    total, buffer, form = hashlib.sha256(), io.BytesIO(), tarfile.PAX_FORMAT
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1, format=form) as tar:
        for name, path in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            if isinstance(path, str):
                entry.type, entry.linkname, content = tarfile.SYMTYPE, path, path.encode()
            else:
                content, mode = _content(path)
                entry.size, entry.mode = len(content), 0o755 if mode & 0o100 else 0o644
            total.update(digested(entry, content))
            tar.addfile(entry, io.BytesIO(content))
    return Archive(total.hexdigest()[:32], buffer.getvalue())


def digested(entry: tarfile.TarInfo, content: bytes) -> bytes:
    """Return what the digest of an archive takes of a file, or of a link and its target."""
    return f"{entry.name} {entry.mode:o} {len(content)} ".encode() + content


def _content(path: Path) -> tuple[bytes, int]:
    try:
        return path.read_bytes(), path.stat().st_mode
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}", "hosts need it: make it readable") from error


def code_digest() -> str:
    """Return the digest of benchforge's own code, as this process imports it."""
    total = hashlib.sha256()
    for name, path in sorted(_own_files()):
        if name.endswith((".py", ".toml")) and not name.startswith("benchforge/suites/"):
            content = path.read_bytes()
            total.update(f"{name} {len(content)} ".encode() + content)
    return total.hexdigest()[:16]


def _own_files() -> Iterator[tuple[str, Path]]:
    """Yield our own packages and their metadata, of a clone or of an installation."""
    for file in own_distribution().files or ():
        names = {"METADATA", "entry_points.txt"}
        if file.parent.name.endswith(".dist-info") and file.name in names:
            yield str(file), Path(str(file.locate()))
    root = Path(benchforge.__file__).parent
    plugins = [root.parent] if (root.parent / "benchforge_loaders").is_dir() else []
    plugins = plugins or sorted((root.parent / "plugins").iterdir())
    folders = [package for folder in plugins for package in sorted(folder.glob("benchforge_*"))]
    for folder in (root, *(folder for folder in folders if (folder / "__init__.py").is_file())):
        for path in folder.rglob("*"):
            if path.is_file() and not any(word in str(path) for word in _LEFT_OUT):
                yield str(path.relative_to(folder.parent)), path


def _distributions(modules: Iterable[str]) -> list[importlib.metadata.Distribution]:
    """Return all that benchforge and the modules need, with what these need in turn."""
    by_module = importlib.metadata.packages_distributions()
    pending = [*_required(own_distribution(), frozenset())]
    for module in modules:
        top = module.partition(".")[0]
        if top not in by_module:
            raise ProgramMissing(f"missing module: {module}", "pip install its package")
        pending += [(name, frozenset[str]()) for name in by_module[top]]
    needed: dict[str, importlib.metadata.Distribution] = {}
    visited: set[tuple[str, frozenset[str]]] = set()
    while pending:
        name, extras = pending.pop()
        if (name.lower(), extras) in visited:
            continue
        visited.add((name.lower(), extras))
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # another platform needs it
        needed[distribution.name.lower()] = distribution
        pending += _required(distribution, extras)
    needed.pop(own_distribution().name.lower(), None)
    return list(needed.values())


def _required(
    distribution: importlib.metadata.Distribution, extras: frozenset[str]
) -> Iterator[tuple[str, frozenset[str]]]:
    for text in distribution.requires or ():
        requirement, _, marker = text.partition(";")
        wanted = re.findall(r"extra\s*==\s*['\"]([^'\"]+)", marker)
        if wanted and not extras & set(wanted):
            continue
        if match := _REQUIREMENT.match(requirement):
            inside = re.match(r"\s*\[([^\]]*)\]", match[2])
            names = inside[1].split(",") if inside else ()
            yield match[1], frozenset(name.strip() for name in names)


def _files_of(distribution: importlib.metadata.Distribution) -> Iterator[tuple[str, Path]]:
    for file in distribution.files or ():
        name, path = str(file), Path(str(file.locate()))
        inside = not name.startswith("..") and not any(word in name for word in _LEFT_OUT)
        if inside and path.is_file():
            yield name, path


class FileCache:
    """Takes and unpacks archives. Only who has the machine's lock may use it."""

    @property
    def _folder(self) -> Path:
        return cache("hosts") / "files"

    def _archive(self, digest: str) -> Path:
        return self._folder / f"{digest}.tar.gz"

    def has(self, digest: str) -> bool:
        """Return True if an archive is there; it is then the newest."""
        if is_file := self._archive(digest).is_file():
            self._archive(digest).touch()
        return is_file

    def take(self, digest: str, piece: str, first: bool, last: bool) -> None:
        """Add a piece to an archive; with the last one it is there."""
        half = self._archive(digest).with_suffix(".half")
        half.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with half.open("wb" if first else "ab") as file:
            file.write(base64.b64decode(piece))
        if last:
            half.rename(self._archive(digest))

    def unpacked(self, digest: str) -> Path:
        """Return a new folder with an archive's files; remove those of other runs.

        Raises Unusable for an archive that is not what its digest says, and removes it.
        """
        folder = (self._folder / digest).resolve()
        for old in self._folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            elif old.suffix == ".half":
                old.unlink()
        archives = sorted(self._folder.glob("*.tar.gz"), key=lambda file: -file.stat().st_mtime)
        for old in archives[1 + _KEPT :]:
            old.unlink()
        folder.mkdir(mode=0o700)
        try:
            sound = self._unpack(digest, folder)
        except (tarfile.TarError, EOFError, OSError, zlib.error):
            sound = False
        if not sound:
            self._archive(digest).unlink(missing_ok=True)
            message = "the files that benchforge brought cannot be unpacked as they were packed"
            raise Unusable(message, f"see the disk of {self._folder}, and run it again")
        return folder

    def _unpack(self, digest: str, folder: Path) -> bool:
        """Unpack an archive; return True if its files are those of its digest."""
        total = hashlib.sha256()
        with tarfile.open(self._archive(digest)) as tar:
            for entry in tar:
                path, file = folder / entry.name, tar.extractfile(entry) if entry.isreg() else None
                content = entry.linkname.encode() if file is None else file.read()
                total.update(digested(entry, content))
                path.parent.mkdir(parents=True, exist_ok=True)
                if file is None:
                    path.symlink_to(entry.linkname)
                else:
                    path.write_bytes(content)
                    path.chmod(entry.mode)
        return total.hexdigest()[: len(digest)] == digest
