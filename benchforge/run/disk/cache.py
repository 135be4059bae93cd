"""Where things are kept that took time to make: $XDG_CACHE_HOME/benchforge, ~/.cache without it."""

import atexit
import contextlib
import functools
import os
import tempfile
from pathlib import Path

from benchforge.run.disk.scratch import PREFIX, scratch_folder


def cache(name: str) -> Path:
    """Return a folder of the cache; one for the life of this process where it is not writable."""
    try:
        folder = place(name)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # not writable; no home at all
        return _of_this_process(name)


def place(name: str) -> Path:
    """Return where the folder is, or would be. Raises RuntimeError where there is no home."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home).absolute() / "benchforge" / name


@functools.cache
def _of_this_process(name: str) -> Path:
    until_we_end = contextlib.ExitStack()
    atexit.register(until_we_end.close)
    return until_we_end.enter_context(scratch_folder(f"{PREFIX}{name}-"))
