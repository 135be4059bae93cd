"""Compute for as long as somebody writes to a pipe: neighbour.py PIPE. It ends after two minutes."""

import os, select, sys, time

BUSY_S, LIFE_S = 0.004, 120
pipe = os.open(sys.argv[1], os.O_RDWR | os.O_NONBLOCK)
ends_s = time.monotonic() + LIFE_S
while time.monotonic() < ends_s:
    if select.select([pipe], [], [], 1)[0]:
        os.read(pipe, 1 << 16)
        until_s = time.monotonic() + BUSY_S
        while time.monotonic() < until_s:
            pass
