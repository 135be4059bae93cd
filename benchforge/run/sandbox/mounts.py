"""The mounts of a trial: what its programs can write, and the sockets that they cannot connect to.

Part of the keeper: standard library only. All of it is in the trial's own mount namespace.
"""
# ruff: noqa: PTH102, PTH103, PTH110, PTH115, PTH116, PTH118, PTH123, PTH208 - importing pathlib would cost more than all that is imported here

import contextlib
import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MS_NOSUID_NODEV, MS_NOSUID_NODEV_NOEXEC = 0x2 | 0x4, 0x2 | 0x4 | 0x8
MS_REC_PRIVATE, MS_REC_BIND, MNT_DETACH = 0x4000 | 0x40000, 0x4000 | 0x1000, 0x2
MS_BIND = 0x1000
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - POSIX has it there, System V in the kernel
SYSTEM_V = "/SYSV"  # how /proc/PID/maps calls the latter
OUTLIVES = (SYSTEM_V, f"{os.path.realpath(SHARED_MEMORY)}/")
_INERT = b"/dev/null"  # to connect to it is refused
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _RDONLY = 442, -100, 0x8000, 1

_libc = ctypes.CDLL(None, use_errno=True)


def kernel(name: str, *arguments: object) -> None:
    """Call a function of libc that returns -1 on failure; raise its errno."""
    if getattr(_libc, name)(*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """Mount something. Raises OSError."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    kernel("mount", *texts[:3], flags, texts[3])


def cover_shared_memory() -> None:
    """Mount an empty /dev/shm; folders in it stay. Raises OSError, and then all is as before."""
    names = [each.name for each in os.scandir(SHARED_MEMORY) if each.is_dir(follow_symlinks=False)]
    with _opened(SHARED_MEMORY) as original:
        mount("none", SHARED_MEMORY, "tmpfs", MS_NOSUID_NODEV, "mode=1777")
        try:
            for name in names:
                covered = os.path.join(SHARED_MEMORY, name)
                os.mkdir(covered)
                with contextlib.suppress(FileNotFoundError):  # it went meanwhile
                    mount(f"{original}/{name}", covered, None, MS_REC_BIND)
        except OSError:
            kernel("umount2", os.fsencode(SHARED_MEMORY), MNT_DETACH)
            raise


def close_files(writes: list[str], copied: list[str], scratch: str) -> list[str]:
    """Make all files read-only but those below `writes`; return what is weaker, and why.

    Programs may write below `copied`, into layers in `scratch`.
    """
    weaker: list[str] = []
    with contextlib.ExitStack() as opened:
        real = {path: opened.enter_context(_opened(path)) for path in writes}
        for number, path in enumerate(copied):
            try:
                _overlay(path, os.path.join(scratch, f"layer-{number}"))
            except OSError as error:
                weaker.append(f"programs may change files in {path}, for it has no layer: {error}")
                with contextlib.suppress(OSError):
                    mount(path, path, None, MS_REC_BIND)
        for path, source in real.items():  # also in a layer
            mount(source, path, None, MS_REC_BIND)
    try:
        _set_attributes("/", _RDONLY, flags=_AT_RECURSIVE)
    except OSError as error:
        return [*weaker, f"programs may change all files of the user: {error}"]
    for path in (*copied, *writes, SHARED_MEMORY, "/proc"):
        with contextlib.suppress(OSError):  # it was read-only before
            _set_attributes(path, 0, clear=_RDONLY)
    return weaker


def _overlay(path: str, layer: str) -> None:
    for name in ("upper", "work"):
        os.makedirs(os.path.join(layer, name))
    with _opened(path) as lower, _opened(layer) as parent:  # a path may hold a colon or a comma
        # volatile: who reads it later? To sync it would sync the whole disk at each trial's end.
        options = "volatile,userxattr" if os.getuid() else "volatile"
        words = f"lowerdir={lower},upperdir={parent}/upper,workdir={parent}/work,{options}"
        mount("overlay", path, "overlay", 0, words)


def _set_attributes(path: str, attributes: int, *, clear: int = 0, flags: int = 0) -> None:
    packed = struct.pack("4Q", attributes, clear, 0, 0)
    kernel("syscall", _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), flags, packed, len(packed))


def cover_sockets(paths: list[str]) -> list[str]:
    """Cover socket files with what nobody can connect to; return which are not, and why."""
    weaker: list[str] = []
    for path in paths:
        try:
            kernel("mount", _INERT, os.fsencode(path), None, MS_BIND, None)
        except OSError as error:
            if os.path.exists(path):  # not gone, nor in a folder that is closed to the trial, too
                weaker.append(f"the machine's socket {path} is in reach: {error}")
    return weaker


@contextlib.contextmanager
def _opened(folder: str) -> "Iterator[str]":
    """Give a path of a folder that stays, whatever is mounted over it."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def mapped(pids: "Iterable[int]", prefixes: tuple[str, ...] = OUTLIVES) -> set[str]:
    """The shared memory with a name that processes map, or have open: device, inode, path."""
    names: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", "rb") as file:
            for line in file:
                _, rights, _, device, inode, *path = os.fsdecode(line).split(maxsplit=5)
                if path and rights.endswith("s") and path[0].startswith(prefixes):
                    names.add(f"{device} {inode} {path[0].rstrip()}")
        for target, status in opened(pid, prefixes):  # who has just named some maps it later
            names.add(f"{device_of(status)} {status.st_ino} {target}")
    return names


def opened(pid: int, prefixes: tuple[str, ...]) -> "Iterator[tuple[str, os.stat_result]]":
    """Yield path and status of what a process has open, if its path begins with a prefix."""
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(link := f"/proc/{pid}/fd/{name}")
                if target.startswith(prefixes):
                    yield target, os.stat(link)


def device_of(status: os.stat_result) -> str:
    """The device of a file, as /proc/PID/maps has it."""
    return f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
