"""Print a new folder in memory for what tests throw away; nothing where there is no room.

The tests copy clusters of a thousand files and remove them. On a disk that takes 7 % of their time.
"""

import os
import sys
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - a new folder is made in it
ROOM = 8 << 30
"Bytes that have to be free: the tests write up to a quarter of that."


def room() -> int:
    """Return the bytes that may be written in memory; 0 where no program could run from there."""
    try:
        free = os.statvfs(MEMORY)
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    if free.f_flag & os.ST_NOEXEC or not os.access(MEMORY, os.W_OK):
        return 0
    available = next((line.split()[1] for line in lines if line.startswith("MemAvailable")), "0")
    return min(free.f_bavail * free.f_frsize, int(available) << 10)


if __name__ == "__main__":
    if room() >= ROOM:
        sys.stdout.write(tempfile.mkdtemp(prefix="benchforge-tests-", dir=MEMORY))
