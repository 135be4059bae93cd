"""Serves one connection after the other, each until its client closes it. in_turn.py PORT"""

import socket
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n\r\npong"

server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, connection.makefile("rb") as file:
        try:
            while line := file.readline():
                if line == b"\r\n":
                    connection.sendall(ANSWER)
        except OSError:
            pass  # a client that leaves is no error
