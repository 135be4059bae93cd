"""Send a note to who connects: ADDRESS PORT NOTE."""

import socket
import sys

address, port, note = sys.argv[1:]
listener = socket.create_server((address, int(port)))
while True:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(note.encode())
