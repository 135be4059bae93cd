"""Writes down each request that it gets: records.py --port PORT [--log FILE] [--wait SECONDS].

A line of the log has the number of the connection, the head without the header Host, and the body. A
path that begins with /slow is answered after ten times the wait, a POST with 201.
"""

import argparse
import itertools
import json
import socket
import threading
import time

from wire import listen

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--log")
parser.add_argument("--wait", type=float, default=0.003)
options = parser.parse_args()
log = open(options.log, "a") if options.log else None
lock, numbers = threading.Lock(), itertools.count(1)


def serve(connection):
    number, stream = next(numbers), connection.makefile("rb")
    while request := stream.readline():
        answered(connection, stream, request, number)


def answered(connection, stream, request, number):
    head, length = request, 0
    while (line := stream.readline()) not in {b"\r\n", b""}:
        if line.lower().startswith(b"content-length:"):
            length = int(line[15:])
        if not line.lower().startswith(b"host:"):
            head += line
    body = stream.read(length)
    if log is not None:
        with lock:
            log.write(json.dumps([number, head.decode(), body.decode()]) + "\n")
            log.flush()
    method, path, _ = request.split()
    time.sleep(options.wait * (10 if path.startswith(b"/slow") else 1))
    status = b"201 Created" if method == b"POST" else b"200 OK"
    text = json.dumps({"path": path.decode()}).encode()
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    connection.sendall(head % (status, len(text)) + text)


listen(socket.create_server(("127.0.0.1", options.port), backlog=128), serve)
