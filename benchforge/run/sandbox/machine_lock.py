"""One benchforge measures at a time on a machine. The next one waits."""

import contextlib
import errno
import os
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchforge.run.sandbox.listeners import NameHolder, holder_of
from benchforge.text import safe
from benchforge.text.readable import spoken

# A name in the kernel's memory: no file to leave behind, gone with the process however it ends.
NAME = "\0benchforge measures"
_CREDENTIALS = struct.Struct("3i")
_BETWEEN_S = 0.1  # two tries, where the other ends or begins at this moment
_STARTED = 19  # word after the name in /proc/PID/stat
REPORTS_S = 1.0  # between two reports of one wait


class Wait(NamedTuple):
    """A wait for a process that has the machine's lock."""

    holder: str
    "Command and number of the process."
    began: str = ""
    "User, start and folder of the process, and how many others wait, as far as known."
    seconds: float = 0.0
    "Time of the wait so far."
    measures: bool = True
    "False if the process is not benchforge, or not known."

    @property
    def in_words(self) -> str:
        """Description: who has the lock."""
        return f"{self.holder} {'is measuring' if self.measures else 'has the lock of benchforge'}"


@contextlib.contextmanager
def measuring(report: Callable[[Wait], None]) -> Iterator[None]:
    """Hold the machine's lock; wait for another holder, and report each second of the wait.

    What `report` raises ends the wait.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mine:
        while True:
            try:
                mine.bind(NAME)
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            _wait_for_other(report)
        mine.listen()  # nobody is answered: the kernel tells a waiting process who holds the name
        yield


def _wait_for_other(report: Callable[[Wait], None]) -> None:
    """Wait until the holder ends: the kernel then resets the connections that it never accepted."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waiting:
        pid = _connected(waiting)
        if pid is None:  # its queue is full, it is no benchforge, or it ends or begins now
            time.sleep(_BETWEEN_S)
        first = holder = _holder()
        wait = _described(pid, holder)
        while pid is not None or (holder and first and holder.inode == first.inode):
            report(wait)
            if not _lasts(waiting, pid):
                break
            wait, holder = wait._replace(seconds=wait.seconds + REPORTS_S), _holder()
    time.sleep(_BETWEEN_S)


def _connected(waiting: socket.socket) -> int | None:
    """Return the holder's pid, 0 if hidden; None if it takes no connection."""
    waiting.setblocking(False)
    with contextlib.suppress(OSError):
        waiting.connect(NAME)
        packed = waiting.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return int(_CREDENTIALS.unpack(packed)[0])
    return None


def _holder() -> NameHolder | None:
    with contextlib.suppress(OSError):
        return holder_of(NAME.encode())
    return None


def _described(pid: int | None, holder: NameHolder | None) -> Wait:
    name, measures = _named(pid) if pid else ("a process that the kernel does not name", False)
    user = "" if holder is None or holder.uid is None else _user(holder.uid)
    others = 0 if holder is None else max(0, holder.waiting - (pid is not None))
    queue = f"{others} more wait{'s' * (others == 1)}" if others else ""
    facts = user, _began(pid) if pid else "", queue
    return Wait(name, "; ".join(filter(None, facts)), measures=measures)


def _user(uid: int) -> str:
    import pwd  # noqa: PLC0415 - most runs wait for nobody

    try:
        return f"user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"


def _lasts(waiting: socket.socket, pid: int | None) -> bool:
    """Wait for a moment. Return False once a holder that is connected has ended."""
    if pid is None:
        time.sleep(REPORTS_S)
        return True
    waiting.settimeout(REPORTS_S)
    try:
        waiting.recv(1)
    except TimeoutError:
        return True
    except OSError:
        pass
    return False


def _named(pid: int) -> tuple[str, bool]:
    """Return a process by its command and its pid, and True if that is a benchforge."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
        for program, word in pairwise(words):
            if Path(program).name == "benchforge" and re.fullmatch("[a-z]{1,20}", word):
                return f"benchforge {word} (process {pid})", True
        return f"{safe.word(Path(words[0]).name)} (process {pid})", False
    return f"process {pid}", False


def _began(pid: int) -> str:
    """Return when a process started, and in which folder it runs; empty if that is not known."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        up_s = float(Path("/proc/uptime").read_text().split()[0])
        ago_s = up_s - int(words[_STARTED]) / os.sysconf("SC_CLK_TCK")
        folder = Path(f"/proc/{pid}/cwd").readlink()
        return f"it started {spoken(max(0.0, ago_s))} ago in {folder}"
    return ""
