"""A server that keeps nothing to itself: it prints and answers all it is told, in many forms.

Each answer comes after 3 ms: a load leaves the CPUs to others.
"""

import base64
import json
import os
import sys
import threading
import time
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

actual = [*sys.argv[2:], *(value for name, value in os.environ.items() if name.startswith("T_"))]
lock = threading.Lock()
times = 0


def forms(text):
    yield text
    yield quote(text, safe="")
    yield json.dumps(text)
    yield escape(text)
    for user in ("", "u", "us"):
        yield base64.b64encode(f"{user}:{text}".encode()).decode()


class TellsAll(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        global times
        length = int(self.headers.get("Content-Length") or 0)
        heard = [self.path, *self.headers.values(), self.rfile.read(length).decode()]
        with lock:
            times += 1
            if times < 40:  # of a load the beginning is enough
                log(heard)
        time.sleep(0.003)
        body = json.dumps(actual).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-Told", quote(actual[0], safe="") if actual else "")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *words):
        pass


def log(texts):
    for text in texts:
        for form in forms(text):
            print(form, flush=True)
            print(form, file=sys.stderr, flush=True)


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


log(actual)
Quiet(("127.0.0.1", int(sys.argv[1])), TellsAll).serve_forever()
