"""Serves one connection after the other, each until its client closes it. in_turn.py PORT"""

import socket, sys

from wire import requests, served

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n\r\npong"


def serve(connection):
    for _ in requests(connection):
        connection.sendall(ANSWER)


server = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    served(server.accept()[0], serve)
