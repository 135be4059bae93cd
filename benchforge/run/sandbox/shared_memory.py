"""Shared memory that outlives its processes: where a trial has none of its own, it is removed.

Only what the trial mapped or PostgreSQL noted, what is this user's, and what nobody uses.
"""

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchforge.run.sandbox.keeper import family
from benchforge.run.sandbox.mounts import OUTLIVES, SYSTEM_V, device_of, mapped

NOTES = "shared-memory"
"The file in a scratch folder in which the keeper notes what is mapped."
_POSTMASTER = "*/data/postmaster.pid"
_SEGMENT_LINE = 6  # of it: the key and the number of the segment
_SEGMENTS = Path("/proc/sysvipc/shm")
_IPC_RMID = 0


def noted(scratch: Path) -> set[str]:
    """Return what a trial mapped in the machine's shared memory, and its databases' segments."""
    try:
        text = (scratch / NOTES).read_text(errors="surrogateescape")
    except OSError:
        return set()
    kinds, *lines = text.splitlines() or [""]
    names = set(lines)
    if SYSTEM_V not in kinds.split():
        return names
    for file in scratch.glob(_POSTMASTER):
        with contextlib.suppress(OSError, ValueError, IndexError):
            key, number = map(int, file.read_text().splitlines()[_SEGMENT_LINE].split())
            names.add(_named(key, number))
    return names


def removed(names: Iterable[str]) -> list[str]:
    """Remove named memory of this user that nobody uses; return descriptions of it."""
    names = set(names)
    return [*_segments(names), *_files(names)] if names else []


def _segments(names: set[str]) -> Iterator[str]:
    """Remove segments of System V, which the kernel counts the users of."""
    segments = (name.removesuffix("(deleted)") for name in names if SYSTEM_V in name)
    removable = {" ".join(name.split()[-2:]) for name in segments}  # without their device
    with contextlib.suppress(OSError):
        head, *lines = [line.split() for line in _SEGMENTS.read_text().splitlines()]
        for line in lines:
            segment = {name: int(value) for name, value in zip(head, line, strict=False)}
            unused = segment["nattch"] == 0 and segment["uid"] == os.geteuid()
            if unused and _named(segment["key"], segment["shmid"]) in removable:
                libc = ctypes.CDLL(None, use_errno=True)
                if libc.shmctl(segment["shmid"], _IPC_RMID, None) == 0:
                    yield f"shared memory segment {segment['shmid']}"


def _files(names: set[str]) -> Iterator[str]:
    """Remove files of POSIX's shared memory, of which no process says that it maps or opens it."""
    paths = {name: path for name in names if (path := _file(name)) is not None}
    if not paths:
        return
    used = mapped(family())
    for name, path in sorted(paths.items()):
        if name not in used:
            with contextlib.suppress(OSError):
                path.unlink()
                yield str(path)


def _file(name: str) -> Path | None:
    """Return the file of a name, where it is still the one that was mapped, and ours."""
    device, inode, text = [*name.split(maxsplit=2), "", ""][:3]
    path = Path(text)
    if str(path.parent) + "/" not in OUTLIVES:
        return None
    try:
        status = path.lstat()
    except OSError:
        return None
    # Who may map it as another user can be seen by root only.
    visible = os.geteuid() == 0 or not status.st_mode & 0o077
    is_owned = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and visible
    same = (device_of(status), str(status.st_ino)) == (device, inode)
    return path if is_owned and same else None


def _named(key: int, number: int) -> str:
    """Return how a segment is called here: its number, and its key as /proc/PID/maps has it."""
    return f"{number} {SYSTEM_V}{key & 0xFFFFFFFF:08x}"
