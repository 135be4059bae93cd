"""Space on disks: is there enough for what is measured next."""

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchforge.errors import CannotKeep
from benchforge.run.sandbox.mounts import SHARED_MEMORY
from benchforge.text.readable import amount

LEAST_B = 32_000_000
"With less nothing is started: the logs of a server that goes wrong have taken more."
COMFORT_B = 200_000_000
"With less a run is warned: nobody knows what a trial will print before it did."
_BLOCK_B = 512  # what the kernel counts in, whatever the file system's blocks
_GUESS_B = 200_000  # of a trial, where none has been kept: most take less

FREE_SOME = "free some, or set TMPDIR and XDG_CACHE_HOME to other folders"


def free_b(folder: Path) -> int:
    """Return the bytes free for us at a folder, which may not exist yet. Raises OSError."""
    existing = next((parent for parent in (folder, *folder.parents) if parent.is_dir()), folder)
    return shutil.disk_usage(existing).free


def size_b(folder: Path) -> int:
    """Return the bytes that all files below a folder take; what vanishes meanwhile takes none."""
    taken = 0
    for _, _, names, inside in os.fwalk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                taken += os.stat(name, dir_fd=inside, follow_symlinks=False).st_blocks * _BLOCK_B
    return taken


def enough(folder: Path, hint: str) -> int:
    """Return the bytes that are free. Raises CannotKeep if they are too few, or unknown."""
    try:
        free = free_b(folder)
    except OSError as error:
        other = "choose another folder with -o, or make this one writable"
        raise CannotKeep(f"{error.filename}: {error.strerror}", other) from error
    if free < LEAST_B:
        needed = f"{amount('B', free)} free, {amount('B', LEAST_B)} needed"
        raise CannotKeep(f"{folder}: too little space: {needed}", hint)
    return free


def enough_for_scratch() -> None:
    """Raise CannotKeep where a trial's own folders may not find room."""
    enough(Path(tempfile.gettempdir()), "free some, or set TMPDIR to another folder")


def scarce(folder: Path, trials: int, reserved: Sequence[Path] = ()) -> str:
    """Return a warning if so many trials may not fit; else "". Raises CannotKeep if none does."""
    each = sum(map(size_b, reserved)) / len(reserved) if reserved else _GUESS_B
    wanted = max(COMFORT_B, LEAST_B + trials * each)
    free = enough(folder, "free some, or choose another folder with -o")
    short = f"{folder}: {amount('B', free)} free, and this may need {amount('B', wanted)}"
    return short if free < wanted else ""


def full(error: OSError) -> bool:
    """Whether a disk, or somebody's share of it, is full."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}


def told_full(text: str, *folders: Path) -> str:
    """Return how much is free where a program met a full disk, as it says; "" where none did."""
    if not any(words in text for words in (os.strerror(errno.ENOSPC), "free disk space")):
        return ""
    stand: dict[str, None] = {}
    for folder in (*folders, Path(SHARED_MEMORY)):
        with contextlib.suppress(OSError):
            stand[f"{folder} has {amount('B', free_b(folder))}"] = None
    return f"a disk is full: {', '.join(stand)} free"
