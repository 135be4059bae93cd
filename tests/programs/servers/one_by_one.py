"""Answers one request after the other, each after so many seconds. one_by_one.py PORT SECONDS

So its capacity is known: 1 / SECONDS a second, a little less for what Python does beside.
"""

import sys, threading, time

from wire import answer_each

single = threading.Lock()


def answer(*_):
    with single:
        time.sleep(float(sys.argv[2]))
    return 200, b"pong", ("Content-Type", "text/plain")


answer_each(sys.argv[1], answer)
