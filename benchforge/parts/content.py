"""Content of a file that a process wrote: regular files alone, of bounded size."""

import errno
import io
import os
from pathlib import Path

from benchforge.errors import OutputDamaged
from benchforge.text import door

LARGEST_FILE = 256 << 20
"Bytes; what is printed is cut at a quarter of it."
_GROWTH = 1 << 20  # bytes that a process writes while its file is opened
_REPLACED = {errno.ELOOP: "a link", errno.EINVAL: "what is no file"}


def opened(path: Path) -> io.BufferedReader:
    """Open a file for reading that a process of a trial wrote, or replaced.

    Raises OSError for a link, a pipe, a device, and for more than LARGEST_FILE bytes.
    """
    try:
        with door.opened(path.parent, path.name) as descriptor:
            file = os.fdopen(os.dup(descriptor), "rb")
    except OSError as error:
        if error.errno not in _REPLACED:
            raise
        by = _REPLACED[error.errno]
        raise OSError(error.errno, f"somebody replaced it by {by}", str(path)) from error
    if os.fstat(file.fileno()).st_size <= LARGEST_FILE:
        return file
    file.close()
    raise OSError(errno.EFBIG, f"it has more than {LARGEST_FILE >> 20} MiB", str(path))


def content_of(path: Path) -> bytes:
    """Return the content of a process's file. Raises FileNotFoundError, or OutputDamaged.

    OutputDamaged: a link, a pipe, a device, or more than LARGEST_FILE bytes.
    """
    try:
        with opened(path) as file:
            # It may grow meanwhile; a read takes the memory of all that it might return.
            return file.read(min(os.fstat(file.fileno()).st_size + _GROWTH, LARGEST_FILE))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise OutputDamaged(
            f"{path.name}: {error.strerror}", "find what else writes to it"
        ) from error


def text_of(path: Path) -> str:
    """Return a process's file with invalid bytes replaced. Raises as `content_of`."""
    return content_of(path).decode(errors="replace")
