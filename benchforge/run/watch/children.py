"""The children of a thread, without a sweep through all processes."""

from pathlib import Path

from benchforge.run.watch.files import whole


def children_told() -> bool:
    """Whether the kernel tells them: some are built without."""
    return Path("/proc/thread-self/children").exists()


def children(pid: int, thread: int) -> list[int]:
    """Return the children that a thread started, or took over; none where it has ended."""
    listed = whole(f"/proc/{pid}/task/{thread}/children")
    return [int(word) for word in (listed or b"").split()]
