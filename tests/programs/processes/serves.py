"""Greet whoever connects, from a child process. serves.py PORT WORDS"""

import os, socket, sys

server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
if os.fork():
    os.wait()
while True:
    with server.accept()[0] as connection:
        connection.sendall(sys.argv[2].encode())
