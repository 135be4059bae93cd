"""A server that, for each request, opens a connection to a backend and begins to speak.

`python talks.py --port N --backend URL [--tls]`: with --tls the first bytes are a handshake's.
"""

import argparse
import http.server
import socket
from urllib.parse import urlsplit

HANDSHAKE = b"\x16\x03\x01\x00\x05hello"


class Talks(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        with socket.create_connection((backend.hostname, backend.port), 5) as store:
            store.sendall(HANDSHAKE if options.tls else b"PING\r\n")
            if not options.tls:  # it understands no handshake, and may say nothing to it
                store.recv(100)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--backend")
    parser.add_argument("--tls", action="store_true")
    options = parser.parse_args()
    backend = urlsplit(options.backend)
    http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Talks).serve_forever()
