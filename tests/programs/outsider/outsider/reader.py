"""Answer each request with the note: ADDRESS PORT, and NOTES_URL."""

import os
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(os.environ["NOTES_URL"])
        with socket.create_connection((url.hostname, url.port)) as connection:
            note = connection.makefile("rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(note)))
        self.end_headers()
        self.wfile.write(note)

    def log_message(self, *words):
        """Say nothing."""


ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Answers).serve_forever()
