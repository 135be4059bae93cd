"""Serves JSON, as a commit that a test makes from this text: changes.py PORT.

The test puts lines for the comment `# change`. They see the request and how the server is loaded.
"""

import contextlib
import itertools
import socket
import sys
import threading
import time

BODY = b'{"items": [1, 2, 3]}'
WRONG = b'{"error": "no pool"}'  # as long
numbers = itertools.count(1)
connected = 0
loaded_s = 0.0  # monotonic time of the first moment with two connections
counting = threading.Lock()


def reply(method, path, nth, fields):
    """Return the answer to the nth request of a connection, and whether the connection stays."""
    number = next(numbers)
    single = b"accept-encoding: identity" in fields  # benchforge asks so, no load tool does
    loaded = connected > 1 and not single
    status, kind, headers, body, pause_s = "200 OK", "application/json", "", BODY, 0.002
    # change
    time.sleep(pause_s)
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{headers}Content-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body, "Connection: close" not in headers


def answers(connection):
    global connected, loaded_s
    with counting:
        connected += 1
        loaded_s = loaded_s or (time.monotonic() if connected > 1 else 0.0)
    # A load tool that leaves at its end is not an error.
    with contextlib.suppress(OSError), connection, connection.makefile("rb") as stream:
        for nth, line in enumerate(iter(stream.readline, b""), 1):
            fields = list(iter(lambda: stream.readline().strip().lower(), b""))
            stream.read(sum(int(f[15:]) for f in fields if f.startswith(b"content-length:")))
            answer, stays = reply(*line.decode().split()[:2], nth, fields)
            connection.sendall(answer)
            if not stays or b"connection: close" in fields:
                break
    with counting:
        connected -= 1


with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=128) as listener:
    while True:
        client, _ = listener.accept()
        threading.Thread(target=answers, args=[client], daemon=True).start()
