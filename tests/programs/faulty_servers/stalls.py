"""Answers "pong", and stalls: the whole of it, a single request now and then, or each request."""

import argparse, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import answer_each, limit

STALL_S = 0.5
WAIT_S = 0.005  # before each answer: a load then leaves the CPUs to other tests
EVERY_S = {"whole": 2.0, "single": 1.0, "each": 0.0}

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--way", choices=EVERY_S, required=True)
options = parser.parse_args()
next_stall = time.monotonic() + EVERY_S[options.way]


lock = threading.Lock()


def answer(*_):
    global next_stall
    with lock:
        if stalls := time.monotonic() >= next_stall:
            next_stall = time.monotonic() + EVERY_S[options.way]
            time.sleep(STALL_S if options.way == "whole" else 0)
    time.sleep(WAIT_S + (STALL_S if stalls and options.way != "whole" else 0))
    return 200, b"pong", ("Content-Type", "text/plain")


limit(120)
answer_each(options.port, answer)
