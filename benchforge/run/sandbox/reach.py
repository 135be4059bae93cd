"""What of the machine a trial could reach by the file system: socket files, and mounts."""

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

_RUN = "/run"
"Its folders are looked into, too: a service of another network is in no list of ours."
_MOST_ENTRIES = 4096  # of a folder: a trial must not wait for it
_KERNELS = ("/proc", "/sys")
_FAR = re.compile("nfs|fuse|autofs|cifs|ceph|9p")
"File systems that may let us wait."
_OCTAL = re.compile(r"\\([0-7]{3})")


class SocketFile(NamedTuple):
    """A socket with a path. One that replaces it has another number."""

    path: str
    device: int
    inode: int


def mounts() -> dict[str, str]:
    """Return the file systems of all mounts, by path; none if the kernel hides them."""
    kinds: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            words = line.split()
            path = _OCTAL.sub(lambda code: chr(int(code[1], 8)), words[4])
            kinds[path] = words[words.index("-") + 1]
    return kinds


def socket_files(spared: Iterable[Path]) -> frozenset[SocketFile]:
    """Return the socket files that processes of this machine may listen at, but those `spared`.

    They are those that the kernel lists for our network, those that are mounts, and those in the
    same folders, in mounts, in /run and in its folders. Whole file systems are not walked.
    """
    named = [path.resolve() for path in spared]
    kinds = {path: kind for path, kind in mounts().items() if not path.startswith(_KERNELS)}
    bound = {*map(os.path.realpath, _bound())}
    local = [path for path, kind in kinds.items() if not _FAR.search(kind)]
    folders = {*local, *map(os.path.dirname, bound), *_folders(_RUN)}
    inside = [entry for folder in folders for entry in _special(folder)]
    return frozenset(
        one
        for one in map(_socket_file, {*bound, *kinds, *inside})
        if one and not any(Path(one.path).is_relative_to(path) for path in named)
    )


def _bound() -> Iterator[str]:
    """Yield the paths of the sockets that the kernel lists for our network."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/net/unix").read_text(errors="surrogateescape").splitlines()
        for line in lines[1:]:
            path = line.split(maxsplit=7)[7:]
            if path and path[0].startswith("/"):
                yield path[0]


def _folders(folder: str) -> list[str]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        some = islice(entries, _MOST_ENTRIES)
        return [folder, *(entry.path for entry in some if entry.is_dir(follow_symlinks=False))]
    return []


def _special(folder: str) -> list[str]:
    """Return what in a folder is no file, no folder and no link: that costs no further call."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return [
            entry.path
            for entry in islice(entries, _MOST_ENTRIES)
            if not (entry.is_symlink() or entry.is_file() or entry.is_dir())
        ]
    return []


def _socket_file(path: str) -> SocketFile | None:
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        if stat.S_ISSOCK(status.st_mode):
            return SocketFile(path, status.st_dev, status.st_ino)
    return None
