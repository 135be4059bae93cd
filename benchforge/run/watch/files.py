"""Files of /proc and /sys."""

import contextlib
import os

_SMALL = 8192


def content(path: str) -> bytes | None:
    """Return a small file of the kernel; None when it is not there, or may not be read."""
    with contextlib.suppress(OSError):  # a process may end after its file was opened
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, _SMALL)
        finally:
            os.close(descriptor)
    return None


def whole(path: str) -> bytes | None:
    """Return a file of any size; None when it is not there, or may not be read."""
    with contextlib.suppress(OSError), open(path, "rb", 0) as file:  # noqa: PTH123 - read often
        return file.read()
    return None
