"""Parts of the machine in a trial's reach by the file system: socket files, and mounts."""

import contextlib
import os
import re
import stat
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

SocketFiles = frozenset[tuple[str, int, int]]
"Paths of sockets, each with its device and inode: one that replaces it has others."
_RUN = "/run"
"Its folders are looked into, too: a service of another network is in no list of ours."
_MOST_ENTRIES = 4096  # of a folder: a trial must not wait for it
_NOT_SCANNED = re.compile("proc|sysfs|cgroup|nfs|fuse|autofs|cifs|9p")
"File systems of the kernel, and those that may let us wait."
_OCTAL = re.compile(r"\\([0-7]{3})")


def mounts(root: Path = Path("/")) -> dict[str, str]:
    """Return the file systems of all mounts, by path; none if the kernel hides them."""
    kinds: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in (root / "proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
            words = line.split()
            path = _OCTAL.sub(lambda code: chr(int(code[1], 8)), words[4])
            kinds[path] = words[words.index("-") + 1]
    return kinds


def socket_files(spared: Iterable[Path]) -> SocketFiles:
    """Return the socket files that processes of this machine may listen at, but those `spared`.

    They are in the kernel's list, mounts, in the folders of both, in /run and in its folders.
    """
    kinds, lines = mounts(), list[str]()
    with contextlib.suppress(OSError):
        lines = Path("/proc/net/unix").read_text(errors="surrogateescape").splitlines()
    bound = (line.split(maxsplit=7)[7:] for line in lines[1:])  # some have no path
    paths = {*(os.path.realpath(path) for (path,) in filter(None, bound) if path[0] == "/"), *kinds}
    folders = {path for path, kind in kinds.items() if not _NOT_SCANNED.match(kind)}
    folders |= {*map(os.path.dirname, paths - {*kinds}), _RUN}
    folders.update(entry.path for entry in _entries(_RUN) if entry.is_dir(follow_symlinks=False))
    for folder in folders:  # what is no file, folder or link there is known without another call
        others = (e for e in _entries(folder) if not (e.is_symlink() or e.is_file() or e.is_dir()))
        paths.update(entry.path for entry in others)
    sockets: set[tuple[str, int, int]] = set()
    named = [path.resolve() for path in spared]
    for path in paths:
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            if stat.S_ISSOCK(status.st_mode) and not any(map(Path(path).is_relative_to, named)):
                sockets.add((path, status.st_dev, status.st_ino))
    return frozenset(sockets)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return [*islice(entries, _MOST_ENTRIES)]
    return []
