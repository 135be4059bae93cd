"""A server that, for each request, opens a connection to a backend and begins to speak.

`python talks.py --port N --backend URL [--tls]`: with --tls the first bytes are a handshake's.
"""

import argparse, socket
from urllib.parse import urlsplit

from wire import answer_each

HANDSHAKE = b"\x16\x03\x01\x00\x05hello"


def answer(*_):
    with socket.create_connection((backend.hostname, backend.port), 5) as store:
        store.sendall(HANDSHAKE if options.tls else b"PING\r\n")
        if not options.tls:  # it understands no handshake, and may say nothing to it
            store.recv(100)
    return 200, b"ok"


parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int)
parser.add_argument("--backend")
parser.add_argument("--tls", action="store_true")
options = parser.parse_args()
backend = urlsplit(options.backend)
answer_each(options.port, answer)
