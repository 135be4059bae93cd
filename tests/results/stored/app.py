"""A server of the standard library: it answers every request alike."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Answer(BaseHTTPRequestHandler):
    """Sends a short text."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a GET."""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"Hello\n")

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002 - of the base class
        """Print nothing."""


class Quiet(ThreadingHTTPServer):
    """Prints nothing of clients that leave."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing."""


Quiet(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
