"""Breaks HTTP or its logs in one way: half a body, no answer, binary garbage."""

import argparse, os, socket, sys, threading, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import listen, requests

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--way", choices=["half", "close", "garbage", "slow", "right"], default="right")
parser.add_argument("--after", type=int, default=1, help="from this request on")
parser.add_argument("--binary", action="store_true", help="print bytes of all kinds, then end")
options = parser.parse_args()
observed = 0
lock = threading.Lock()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n"
SENT = {"close": b"", "garbage": bytes(range(256)) * 4, "right": HEAD + b"pong"}


def serve(connection):
    global observed
    for _ in requests(connection):
        with lock:
            observed += 1
            way = options.way if observed >= options.after else "right"
        if way == "right":
            time.sleep(0.003)  # as quick as can be, a load takes all CPUs of a small machine
        connection.sendall(SENT.get(way, HEAD + b"po"))
        if way == "slow":
            time.sleep(60)
        if way != "right":
            return


if options.binary:
    sys.stderr.buffer.write(bytes(range(256)) + b"\x1b[31mred\x1b]0;title\x07\n")
    sys.stderr.flush()
    os._exit(7)
listen(socket.create_server(("127.0.0.1", options.port), backlog=128), serve)
