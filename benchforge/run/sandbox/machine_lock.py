"""One benchforge measures at a time on a machine."""

import contextlib
import errno
import socket
import struct
from collections.abc import Iterator

from benchforge.errors import Unusable
from benchforge.run.sandbox.procfs import named

# A name in the kernel's memory: no file to leave behind, gone with the process however it ends.
NAME = "\0benchforge measures"
_CREDENTIALS = struct.Struct("3i")


@contextlib.contextmanager
def measuring() -> Iterator[None]:
    """Hold the machine's lock. Raises Unusable, naming the other, when it is taken."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as mine:
        try:
            mine.bind(NAME)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            hint = "wait for it, or stop it: two runs would disturb each other"
            raise Unusable(f"another benchforge is measuring: {_other()}", hint) from None
        mine.listen()  # nobody is answered: who asks is told by the kernel whom it reached
        yield


def _other() -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)  # the kernel lets those wait who come after too many others
        try:
            asking.connect(NAME)
            size = _CREDENTIALS.size
            packed = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        except BlockingIOError:
            return "its process is unknown, because of too many requests"
        except OSError:
            return "it ended just now"
    pid, _, _ = _CREDENTIALS.unpack(packed)
    return named(pid)
