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

from benchforge.text.readable import spoken

# A name in the kernel's memory: no file to leave behind, gone with the process however it ends.
NAME = "\0benchforge measures"
_CREDENTIALS = struct.Struct("3i")
_BETWEEN_S = 0.1  # two tries, where the other ends or begins at this moment
_STARTED = 19  # word after the name in /proc/PID/stat
REPORTS_S = 1.0  # between two reports of one wait


class Wait(NamedTuple):
    """A wait for a process that measures."""

    holder: str
    "Command and number of the process."
    began: str = ""
    "Start of the process and its folder; empty if unknown."
    seconds: float = 0.0
    "Time of the wait so far."


@contextlib.contextmanager
def measuring(report: Callable[[Wait], None]) -> Iterator[None]:
    """Hold the machine's lock. While another process holds it, wait, and report that each second.

    What `report` raises ends the wait.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mine:
        while not _bound(mine):
            _wait_for_other(report)
        mine.listen()  # nobody is answered: the kernel tells a waiting process who holds the name
        yield


def _bound(mine: socket.socket) -> bool:
    try:
        mine.bind(NAME)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True


def _wait_for_other(report: Callable[[Wait], None]) -> None:
    """Wait until the holder ends: the kernel then resets the connections that it never accepted."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waiting:
        waiting.setblocking(False)
        with contextlib.suppress(OSError):
            try:
                waiting.connect(NAME)
                packed = waiting.getsockopt(
                    socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size
                )
                pid = _CREDENTIALS.unpack(packed)[0]
                wait, connected = Wait(_named(pid), _began(pid)), True
            except BlockingIOError:  # its queue of connections is full
                wait, connected = Wait("another benchforge, one of many"), False
            report(wait)
            waiting.setblocking(True)
            if not connected:
                waiting.connect(NAME)
            waiting.settimeout(REPORTS_S)
            while _holds(waiting):
                wait = wait._replace(seconds=wait.seconds + REPORTS_S)
                report(wait)
    time.sleep(_BETWEEN_S)


def _holds(waiting: socket.socket) -> bool:
    """Wait for a moment. Raises OSError once the holder has ended."""
    try:
        waiting.recv(1)
    except TimeoutError:
        return True
    return False


def _named(pid: int) -> str:
    """Return the command of a benchforge, without its arguments, and its pid."""
    command = ""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
        for program, word in pairwise(words):
            if Path(program).name == "benchforge" and re.fullmatch("[a-z]{1,20}", word):
                command = f" {word}"
                break
    return f"benchforge{command} (process {pid})"


def _began(pid: int) -> str:
    """Return when a process started, and in which folder it runs; empty if that is not known."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        up_s = float(Path("/proc/uptime").read_text().split()[0])
        ago_s = up_s - int(words[_STARTED]) / os.sysconf("SC_CLK_TCK")
        folder = Path(f"/proc/{pid}/cwd").readlink()
        return f"it started {spoken(max(0.0, ago_s))} ago in {folder}"
    return ""
