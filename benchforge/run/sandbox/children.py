"""The children of a thread, and all below a process, without a sweep through all processes."""

import contextlib
import functools
import os
from collections.abc import Iterator
from pathlib import Path


@functools.cache
def children_told() -> bool:
    """Whether the kernel tells them: some are built without."""
    return Path("/proc/thread-self/children").exists()


def children(pid: int, thread: int) -> list[int]:
    """Return the children that a thread started, or took over; none where it has ended."""
    path = f"/proc/{pid}/task/{thread}/children"
    with contextlib.suppress(OSError), open(path, "rb") as file:  # noqa: PTH123
        return [int(word) for word in file.read().split()]
    return []


def descendants(root: int) -> Iterator[int]:
    """Yield a process and all below it; a child may be missing if another ends meanwhile."""
    pending = [root]
    for pid in pending:  # it grows meanwhile
        yield pid
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - numbers, not paths
                pending += children(pid, int(thread))
