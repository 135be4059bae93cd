"""Answers one request after the other, each after so many seconds. one_by_one.py PORT SECONDS

So its capacity is known: 1 / SECONDS a second, a little less for what Python does beside.
"""

import socket, sys, threading, time

from wire import listen, requests

PORT, SECONDS = int(sys.argv[1]), float(sys.argv[2])
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n\r\npong"
single = threading.Lock()


def serve(connection):
    for _ in requests(connection):
        with single:
            time.sleep(SECONDS)
            connection.sendall(ANSWER)


listen(socket.create_server(("127.0.0.1", PORT), backlog=128), serve)
