"""Leftovers of a benchforge that was killed with its keeper: the next one clears them away."""

import atexit
import contextlib
import functools
import os
import stat
import tempfile
from pathlib import Path

from benchforge.errors import CannotKeep
from benchforge.run.disk.scratch import HALF, PREFIX, abandoned, free, removed, scratch_folder
from benchforge.run.sandbox import leftover_mark, shared_memory
from benchforge.run.sandbox.mounts import mapped
from benchforge.run.sandbox.procfs import named

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache(name: str) -> Path:
    """Return a folder of the cache; where it is not writable, one for this process's life.

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
    """Return the path of a folder of the cache. Raises RuntimeError without a home."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home).absolute() / "benchforge" / name


@functools.cache
def _of_this_process(name: str) -> Path:
    until_we_end = contextlib.ExitStack()
    atexit.register(until_we_end.close)
    return until_we_end.enter_context(scratch_folder(f"{PREFIX}{name}-"))


def cleared(*parents: Path) -> str:
    """End the processes and remove the folders that killed benchforges left; say so in a line.

    `parents` hold results, beside which such folders are too. Empty if there was nothing.
    """
    orphans = leftover_mark.orphans()
    memory = mapped(orphans)
    find = leftover_mark.orphans if orphans else list[int]
    ended, alive = leftover_mark.ended(find)
    folders = [*abandoned(*parents), *half_made()]
    memory = memory.union(*map(shared_memory.noted, folders))
    shared = shared_memory.removed(memory)  # before the folders, which have the names
    gone = [str(folder) for folder in folders if removed(folder)]
    outcome = {"ended": ended, "removed": [*gone, *shared], "cannot end": [*map(named, alive)]}
    phrases = [f"{verb} {', '.join(which)}" for verb, which in outcome.items() if which]
    return f"left by a killed benchforge: {'; '.join(phrases)}" if phrases else ""


def left(*folders: Path) -> list[str]:
    """Return what `cleared` would end and remove, for a person."""
    processes = [named(pid) for pid in leftover_mark.orphans()]
    return processes + [str(folder) for folder in (*abandoned(*folders), *half_made())]


def half_made() -> list[Path]:
    """Return what was being built in the cache when its benchforge was killed."""
    try:
        templates, environments = place("templates"), place("runtimes")
    except RuntimeError:  # no home at all, and so no cache
        return []
    half_built = [folder for folder in templates.glob(f"{HALF}*") if free(folder)]
    built = (folder for folder in environments.glob("*.*") if folder.suffix != ".failed")
    runtimes = [folder for folder in built if not folder.is_symlink() and free(folder)]
    # Looked at after nobody builds it any more: now it is linked to, or never will be.
    linked = {link.resolve() for link in environments.glob("*") if link.is_symlink()}
    return half_built + [folder for folder in runtimes if folder.resolve() not in linked]
