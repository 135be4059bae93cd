"""Memory of processes: shared pages count once, and held but unmapped shared memory, too."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchforge.run.sandbox.mounts import SHARED_MEMORY, device_of, mapped, opened
from benchforge.run.watch.files import whole

_KINDS = ("/memfd:", f"{os.path.realpath(SHARED_MEMORY)}/")
_BLOCK = 512  # bytes, whatever the file system has: see stat(2)

Key = tuple[str, str]
"Device and inode, as /proc/PID/maps has them."


def pss(pid: int) -> int | None:
    """Return the proportional set size in bytes; 0 for an ended process, None for a hidden one."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except PermissionError:
        return None
    for line in text.splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0  # a zombie has no memory


def unmapped(pids: Iterable[int]) -> int:
    """Return the bytes of memfd and of files in /dev/shm that are open, beyond what is mapped."""
    pids = list(pids)
    sizes = dict(_sized(status) for pid in pids for _, status in opened(pid, _KINDS))
    if not sizes:
        return 0
    counted = _shares_of(pids, sizes)
    return sum(max(0, size - counted.get(key, 0)) for key, size in sizes.items())


def ownerless(pid: int, pids: Iterable[int]) -> int:
    """Return bytes in /dev/shm, as `pid` sees it, that no `pids` have. Raises OSError."""
    pids = list(pids)
    owned = {tuple(mapping.split()[:2]) for mapping in mapped(pids)}
    return sum(size for key, size in _files(f"/proc/{pid}/root{SHARED_MEMORY}") if key not in owned)


def _files(folder: str) -> Iterator[tuple[Key, int]]:
    """Yield what lies in a folder; what is mounted below it is the machine's."""
    device = os.stat(folder).st_dev  # noqa: PTH116
    for folder_path, folders, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                yield _sized(Path(folder_path, name).lstat())
        folders[:] = [name for name in folders if Path(folder_path, name).lstat().st_dev == device]


def _sized(status: os.stat_result) -> tuple[Key, int]:
    return (device_of(status), str(status.st_ino)), status.st_blocks * _BLOCK


def _shares_of(pids: Iterable[int], keys: Mapping[Key, int]) -> dict[Key, int]:
    """Return the bytes of files that the processes have mapped, each its proportional share."""
    sizes: dict[Key, int] = {}
    for pid in pids:
        key: Key | None = None
        for line in (whole(f"/proc/{pid}/smaps") or b"").splitlines():
            words = line.split(maxsplit=5)
            if not words[0].endswith(b":"):  # the head of a mapping
                device_key = words[3].decode(), words[4].decode()
                key = device_key if device_key in keys else None
            elif key is not None and words[0] == b"Pss:":
                sizes[key] = sizes.get(key, 0) + int(words[1]) * 1024
    return sizes
