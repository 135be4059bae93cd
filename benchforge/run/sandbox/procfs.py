"""What /proc says of a trial's processes and network, read from outside its namespaces."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from benchforge.run.keeper import below, family

_LISTEN = "0A"
_LOCAL_ADDRESS, _STATE, _INODE = 1, 3, 9


def tree(pid: int) -> list[int]:
    """The pids of a process, of all in its session, and of all their descendants."""
    kin = family()
    members = {one for one, (_, _, session) in kin.items() if session == pid}
    return sorted(below({pid, *members}, kin))


def of_sessions(leaders: set[int]) -> list[int]:
    """The pids of all processes in the sessions of `leaders`."""
    return sorted(one for one, (_, _, session) in family().items() if session in leaders)


def listening(pid: int, port: int) -> set[str]:
    """The inodes of the sockets that listen on a TCP port in the network of `pid`.

    Raises OSError where /proc does not let us read.
    """
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
                if _link(descriptor) in names:
                    return True
        except PermissionError:
            unreadable = True
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
    return None if unreadable else False


def _link(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except FileNotFoundError:
        return ""  # closed meanwhile


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


def executable(pid: int) -> str | None:
    """The file that a process executes; None where it ended, or /proc does not let us read."""
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return None


def counters(pid: int) -> dict[str, int]:
    """The counters of the network of `pid`, named like "TcpPassiveOpens".

    Raises OSError where /proc does not let us read.
    """
    found: dict[str, int] = {}
    for name in ("snmp", "netstat"):
        lines = Path(f"/proc/{pid}/net/{name}").read_text().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            group = names.partition(":")[0]
            pairs = zip(names.split()[1:], values.split()[1:], strict=True)
            found |= {f"{group}{one}": int(value) for one, value in pairs}
    return found
