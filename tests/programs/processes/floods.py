"""Print as fast as the machine can on a stream that is a file: bounded in bytes and in time."""

import os, resource, sys, time

LARGEST = 8 << 30
resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))  # should nobody cut it
until, chunk, printed = time.monotonic() + 20, b"x" * (1 << 20), 0
while time.monotonic() < until and printed < LARGEST:
    printed += os.write(1, chunk)
