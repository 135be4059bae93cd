"""Processes and network of a trial, read in /proc from outside its namespaces."""

import contextlib
import functools
import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

from benchforge.run.sandbox.keeper import below, family

_LISTEN = "0A"
_LOCAL_ADDRESS, _STATE, _INODE = 1, 3, 9


def tree(pid: int, among: Iterable[int] = (), reaper: int = 0) -> list[int]:
    """The pids of a process, its session, all below its reaper, and their descendants.

    They are looked for `among` these processes, or among all.
    """
    processes = family(among)
    members = {pid_ for pid_, (_, _, session) in processes.items() if session == pid}
    return sorted(below({pid, *members, reaper or pid}, processes) - {reaper})


def of_sessions(leaders: set[int]) -> list[int]:
    """The pids of all processes in the sessions of `leaders`."""
    return sorted(pid_ for pid_, (_, _, session) in family().items() if session in leaders)


def listening(pid: int, port: int) -> set[str]:
    """The inodes of sockets that listen on a TCP port of `pid`'s network. Raises OSError."""
    inodes: set[str] = set()
    for name in ("tcp", "tcp6"):
        path = Path(f"/proc/{pid}/net/{name}")
        if name == "tcp6" and not path.exists():
            continue  # a kernel without IPv6
        for line in path.read_text().splitlines()[1:]:
            fields = line.split()
            local_port = int(fields[_LOCAL_ADDRESS].rpartition(":")[2], 16)
            if fields[_STATE] == _LISTEN and local_port == port:
                inodes.add(fields[_INODE])
    return inodes


def holds(pids: Iterable[int], inodes: set[str]) -> bool | None:
    """Whether one of the processes has one of the sockets open; None when not all can be read."""
    names = {f"socket:[{inode}]" for inode in inodes}
    unreadable = False
    for pid in pids:
        try:
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                    if str(descriptor.readlink()) in names:
                        return True
        except PermissionError:
            unreadable = True
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
    return None if unreadable else False


def holders(port: int) -> list[int]:
    """The pids of all that listen on a TCP port of this machine, as far as /proc lets us see."""
    inodes = listening(os.getpid(), port)
    return [pid for pid in sorted(family()) if holds([pid], inodes)]


def named(pid: int) -> str:
    """A process for a person: its pid, and its command line where that can be read."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return f"process {pid} ({b' '.join(words).decode(errors='replace').strip()})"
    return f"process {pid}"


def halted(pid: int) -> int | None:
    """The pid of who stopped a process by tracing it, 0 where nobody traces it; None if it runs."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except OSError:
        return None
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return int(status["TracerPid"]) if status["State"][:1] in {"t", "T"} else None


def kill(pid: int, still: Callable[[int], object]) -> None:
    """Kill a process of which this is `still` true: else its number is another's by now."""
    with contextlib.suppress(OSError):
        process = os.pidfd_open(pid)
        try:
            if still(pid):
                signal.pidfd_send_signal(process, signal.SIGKILL)
        finally:
            os.close(process)


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


def descendants(root: int) -> list[int]:
    """Return a process and all below it, but a child if another ends meanwhile; [] if not told."""
    pending = [root] if children_told() else []
    for pid in pending:  # it grows meanwhile
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - numbers, not paths
                pending += children(pid, int(thread))
    return pending
