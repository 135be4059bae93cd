"""The user's files on a host: an archive kept under its digest, unpacked anew for each run."""

import base64
import hashlib
import shutil
import tarfile
import zlib
from pathlib import Path

from benchforge.errors import Unusable
from benchforge.remote.archive import digested
from benchforge.run.disk.leftovers import cache

_KEPT = 4
"Archives of earlier runs that stay."


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
