"""How much a part prints: what is captured, and the regular files that it has open for writing."""

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from benchforge.run.sandbox.sandbox import Running, last_lines
from benchforge.run.watch.files import content

_MOST = 256  # files of a part that are held; a database with more of them prints elsewhere
_FOR_WRITING = os.O_WRONLY | os.O_RDWR


class OutputSize:
    """The files of a part as they were when the load began.

    Each is held, so that it is still known when it was renamed or removed. What is opened during
    the load is not known.
    """

    def __init__(self, running: Running, pids: Iterable[int]) -> None:
        self.why = ""
        "Why how much it prints is not known."
        self._first: dict[tuple[int, int], tuple[int, int]] = {}  # descriptor and size, by inode
        self._captured: dict[Path, int] = {}
        for path in (running.stdout, running.stderr):
            with contextlib.suppress(OSError):
                self._captured[path] = path.stat().st_size
                self._hold(str(path))
        for pid in pids:
            self._hold_all(pid)

    def _hold_all(self, pid: int) -> None:
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - numbers, not paths
        except PermissionError:
            self.why = "/proc does not show which files it writes"
            return
        except OSError:
            return  # it has ended
        for number in numbers:
            if _flags(content(f"/proc/{pid}/fdinfo/{number}") or b"") & _FOR_WRITING:
                with contextlib.suppress(OSError):
                    self._hold(f"/proc/{pid}/fd/{number}")

    def _hold(self, path: str) -> None:
        named = Path(path).stat()
        key = (named.st_dev, named.st_ino)
        if not stat.S_ISREG(named.st_mode) or key in self._first:
            return
        if len(self._first) == _MOST:
            self.why = f"it has more than {_MOST} files open for writing"
            return
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        self._first[key] = (descriptor, named.st_size)

    def grown(self) -> int | None:
        """Return by how many bytes they grew since; None where not all are known."""
        if self.why:
            return None
        return sum(
            max(0, os.fstat(descriptor).st_size - size) for descriptor, size in self._first.values()
        )

    def line(self) -> str:
        """Return the last line of what is captured and grew since; empty where nothing did."""
        for path, size in self._captured.items():
            if path.stat().st_size > size:
                return last_lines(path, 1)
        return ""

    def close(self) -> None:
        """Let go of all files."""
        for descriptor, _ in self._first.values():
            os.close(descriptor)
        self._first = {}


def _flags(fdinfo: bytes) -> int:
    words = fdinfo.split()
    return int(words[words.index(b"flags:") + 1], 8) if b"flags:" in words else 0
