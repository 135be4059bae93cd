"""Run a program in a network of its own, among processes of its own: `own_place.py WORD...`.

The tests run side by side so. Who measures holds a lock of its network, and who starts looks for
what others have left: in a place of its own no test meets another's. It ends with all that it
started. Its exit code is the program's; where the machine refuses such a place, it starts nothing,
ends with 1 and says why.
"""

import os
import signal
import sys
from typing import Any

from benchforge.run.sandbox import keeper, mounts

PROC = ("none", "/proc", "proc", mounts.MS_NOSUID_NODEV_NOEXEC)


def main(words: list[str]) -> int:
    """Wait outside for the first process of the place."""
    wishes = {"pid_namespace": True, "network": "private", "shared_memory": True}
    if weaker := keeper.enter_namespaces(wishes)["weaker"]:
        sys.exit(weaker[0])
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal asks the program, too
    first = os.fork()
    if first == 0:
        keeper._die_with_parent()
        mounts.mount("none", "/", None, mounts.MS_REC_PRIVATE)
        mounts.mount(*PROC)
        mounts.cover_shared_memory()
        keeper._raise_loopback()
        os._exit(program(words, heard))
    return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])


def program(words: list[str], heard: Any) -> int:
    """Start it, and collect whatever ends here until it has ended itself."""
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, heard)
        os.execvp(words[0], words)  # noqa: S606 - the words are a command line of our own
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status) & 0xFF


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
