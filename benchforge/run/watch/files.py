"""Files of /proc and /sys: read once, or kept open and read again and again."""

import contextlib
import os
from pathlib import Path

_SMALL = 8192
_LARGE = 1 << 16


def content(path: str) -> bytes | None:
    """Return a small file of the kernel; None when it is not there, or may not be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(descriptor, _SMALL)
    except OSError:  # a process that ended after its file was opened
        return None
    finally:
        os.close(descriptor)


def whole(path: str) -> bytes | None:
    """Return a file of any size; None when it is not there, or may not be read."""
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        return file.read()
    return None


class KeptOpen:
    """A file that is read again and again; None each time where it cannot be."""

    def __init__(self, path: str) -> None:
        try:
            self._descriptor: int | None = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._descriptor = None

    def read(self) -> bytes | None:
        """Return what it says now."""
        if self._descriptor is None:
            return None
        read = b""
        try:
            while part := os.pread(self._descriptor, _LARGE, len(read)):
                read += part
        except OSError:
            return None
        return read

    def close(self) -> None:
        """Close the file; twice does no harm."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
