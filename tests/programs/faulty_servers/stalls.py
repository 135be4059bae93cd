"""Answers "pong", and stalls: the whole of it, a single request now and then, or each request."""

import argparse, socket, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import limit, listen, requests

STALL_S = 0.5
WAIT_S = 0.005  # before each answer: a load then leaves the CPUs to other tests
EVERY_S = {"whole": 2.0, "single": 1.0, "each": 0.0}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npong"

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--way", choices=EVERY_S, required=True)
options = parser.parse_args()
next_stall = time.monotonic() + EVERY_S[options.way]


lock = threading.Lock()


def serve(connection):
    global next_stall
    for _ in requests(connection):
        with lock:
            if stalls := time.monotonic() >= next_stall:
                next_stall = time.monotonic() + EVERY_S[options.way]
                time.sleep(STALL_S if options.way == "whole" else 0)
        time.sleep(WAIT_S + (STALL_S if stalls and options.way != "whole" else 0))
        connection.sendall(ANSWER)


limit(120)
listen(socket.create_server(("127.0.0.1", options.port), backlog=128), serve)
