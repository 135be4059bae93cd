"""Where things are kept that took time to make: $XDG_CACHE_HOME/benchforge, ~/.cache without it."""

import atexit
import contextlib
import functools
import os
import stat
import tempfile
from pathlib import Path

from benchforge.errors import CannotKeep
from benchforge.run.disk.scratch import PREFIX, scratch_folder

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache(name: str) -> Path:
    """Return a folder of the cache; one for the life of this process where it is not writable.

    Raises CannotKeep where another user owns it, or may write there: programs in it are run.
    """
    try:
        folder = place(name)
        folder.parents[1].mkdir(mode=0o755, parents=True, exist_ok=True)
        for level in (folder.parent, folder):
            level.mkdir(mode=0o700, exist_ok=True)
            private(level).chmod(0o700)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # not writable; no home at all
        return _of_this_process(name)


def private(folder: Path) -> Path:
    """Return a folder of ours to which nobody else can write. Raises CannotKeep for another."""
    status = folder.lstat()
    other = Path.home() / ".benchforge-cache"
    hint = f"remove it, or choose another folder: export XDG_CACHE_HOME={other}"
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise CannotKeep(f"{folder}: not a folder of this user: programs in it are not run", hint)
    if status.st_mode & _OTHERS_WRITE:
        raise CannotKeep(f"{folder}: other users may write there: programs in it are not run", hint)
    return folder


def place(name: str) -> Path:
    """Return where the folder is, or would be. Raises RuntimeError where there is no home."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home).absolute() / "benchforge" / name


@functools.cache
def _of_this_process(name: str) -> Path:
    until_we_end = contextlib.ExitStack()
    atexit.register(until_we_end.close)
    return until_we_end.enter_context(scratch_folder(f"{PREFIX}{name}-"))
