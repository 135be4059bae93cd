"""A WSGI app that needs 2 ms of CPU. With FAVOURS, a file, all workers but one wait before each."""

import fcntl
import os
import time

held = open(os.environ["FAVOURS"], "w") if "FAVOURS" in os.environ else None
waits = 0.0
if held:
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        waits = 0.05


def app(environ, start):
    time.sleep(waits)
    until = time.thread_time() + 0.002
    while time.thread_time() < until:
        pass
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
