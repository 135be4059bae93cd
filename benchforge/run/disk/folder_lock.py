"""Who uses a folder: a lock on it that the kernel lets go when its process ends, however."""

import contextlib
import errno
import functools
import os
from pathlib import Path


def hold(folder: Path, *, shared: bool = False) -> int | None:
    """Return a descriptor that holds a folder until it is closed; None where another holds it.

    Several may hold it `shared`. On a file system without locks nobody is kept out. Raises OSError
    where the folder cannot be opened.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        import fcntl  # noqa: PLC0415 - readers of results run without it

        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except (OSError, ImportError):
        return descriptor
    return descriptor


@functools.cache
def use(folder: Path) -> None:
    """Keep a folder from being cleaned away as long as we live, and note that it is used now.

    Raises OSError where it is gone, or is being removed.
    """
    if hold(folder, shared=True) is None:
        raise OSError(errno.EBUSY, "is being removed", str(folder))
    with contextlib.suppress(OSError):  # somebody else's, or read-only: then its age tells less
        os.utime(folder)
