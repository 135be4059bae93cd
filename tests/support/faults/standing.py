"""What stands in a place: processes, their namespaces, listeners, mounts, shared memory."""

import contextlib
from pathlib import Path


def standing() -> set[str]:
    """What a person would look for; two looks differ by what came and went."""
    pids = processes()
    named = {f"process {pid} {words}" for pid in pids if (words := line(pid))}
    spaces = {space for pid in pids for space in _namespaces(pid)}
    return named | spaces | _ports() | _sockets() | _mounts()


def shared_memory() -> set[str]:
    """Segments of System V, and files of POSIX's shared memory."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    segments = {f"shared memory segment {line.split()[1]}" for line in lines}
    return segments | {f"shared memory {path}" for path in Path("/dev/shm").iterdir()}  # noqa: S108


def processes() -> set[int]:
    """The pids of all processes here."""
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()}


def line(pid: int) -> str:
    """The command line; of a process that has ended it is empty."""
    with contextlib.suppress(OSError):
        content = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
        return content.decode(errors="replace").strip()
    return ""


def _namespaces(pid: int) -> set[str]:
    names: set[str] = set()
    for name in ("net", "pid", "mnt", "user", "ipc"):
        with contextlib.suppress(OSError):
            names.add(f"namespace {Path(f'/proc/{pid}/ns/{name}').readlink()}")
    return names


def _ports() -> set[str]:
    """TCP sockets that listen."""
    files = (Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
    lines = [line.split() for text in files for line in text.splitlines()[1:]]
    return {f"port {int(line[1].rpartition(':')[2], 16)}" for line in lines if line[3] == "0A"}


def _sockets() -> set[str]:
    """Unix sockets that listen, benchforge's lock too."""
    lines = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return {f"socket {' '.join(line[6:])}" for line in lines if line[3] == "00010000"}


def _mounts() -> set[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {f"mount {line.split()[4]}" for line in lines}
