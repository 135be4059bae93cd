"""Folders for what nobody keeps: the kernel knows who uses each, however that process ends."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "bf-"
_OWNER = "owner"
_TELLS = "benchforge"
_ATTEMPTS = 5
_EMPTY_FOR_S = 60.0  # a folder is empty for a moment before it says whose it is


@contextlib.contextmanager
def scratch_folder(prefix: str = PREFIX) -> Iterator[Path]:
    """A short private folder: the path of a socket ends at 107 bytes.

    It has a file `owner`; what is made in it else goes with it.
    """
    with claimed(Path(tempfile.gettempdir()), prefix) as folder:
        try:
            told = f"{_TELLS}, process {os.getpid()}; if that was killed, the next removes this\n"
            (folder / _OWNER).write_text(told)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def claimed(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a folder that is known to be in use until we leave, or are gone."""
    for _ in range(_ATTEMPTS):
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        if (lock := claim(folder)) is not None:
            break
        # Who clears away was faster between the two lines.
        with contextlib.suppress(OSError):
            folder.rmdir()
    else:  # a file system without locks: nobody else can claim it either
        folder, lock = Path(tempfile.mkdtemp(prefix=prefix, dir=parent)), -1
    try:
        yield folder
    finally:
        if lock >= 0:
            os.close(lock)


def claim(folder: Path) -> int | None:
    """Return a descriptor that holds a folder; None where somebody uses it, or it is gone."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), folder.stat()):
            return lock
    except OSError:
        pass
    os.close(lock)
    return None


def abandoned() -> list[Path]:
    """Return the scratch folders of ours that nobody uses: their benchforge was killed."""
    every = sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))
    return [folder for folder in every if _ours(folder) and free(folder)]


def free(folder: Path) -> bool:
    """Whether a folder is there, and nobody uses it."""
    if (lock := claim(folder)) is not None:
        os.close(lock)
    return lock is not None


def removed(folder: Path) -> bool:
    """Remove a folder, unless somebody uses it; whether it is gone."""
    if (lock := claim(folder)) is None:
        return False
    try:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)
    return not folder.exists()


def _ours(folder: Path) -> bool:
    """Whether a benchforge of this user made a folder, whatever else is named so."""
    try:
        stat = folder.lstat()
        if stat.st_uid != os.geteuid():
            return False
        with contextlib.suppress(FileNotFoundError):
            return (folder / _OWNER).read_text().startswith(f"{_TELLS}, ")
        return not any(folder.iterdir()) and time.time() - stat.st_mtime > _EMPTY_FOR_S
    except (OSError, ValueError):
        return False
