"""Two that start each other again, each in a session of its own. respawns.py ends after a minute."""

import os, signal, sys, time

UNTIL = float(sys.argv[1]) if len(sys.argv) > 1 else time.monotonic() + 60
OTHER = int(sys.argv[2]) if len(sys.argv) > 2 else 0


def again(other):
    """Start a twin that watches `other`; its pid."""
    if child := os.fork():
        return child
    os.setsid()
    os.execv(sys.executable, [sys.executable, __file__, str(UNTIL), str(other)])


if not OTHER:
    if os.fork():
        sys.exit()
    os.setsid()
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who ends is reaped by the kernel
other = OTHER or again(os.getpid())
while time.monotonic() < UNTIL:
    try:
        os.kill(other, 0)
    except ProcessLookupError:
        other = again(os.getpid())
    time.sleep(0.01)
