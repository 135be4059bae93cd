"""Serves members only: members.py PORT LOG. POST /login gives a cookie and a token; a page wants both.

A line of the log has the name of a member for each page, or what is wrong with the request.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

log = open(sys.argv[2], "a")
lock = threading.Lock()
members = {}  # the token and the name of each session


class Members(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one piece: two would wait 40 ms for each other

    def do_POST(self):
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        name = form["name"][0]
        with lock:
            number = len(members) + 1
            members[f"session-{number}"] = f"token-{number}", name
        status = 200 if form["password"] == [f"of {name}"] else 403
        cookies = [
            f"session=session-{number}; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/; HttpOnly",
            "theme=dark",
        ]
        self.answer(status, {"user": {"token": f"token-{number}"}}, cookies)

    def do_GET(self):
        cookies = dict(item.split("=") for item in self.headers.get("Cookie", "=").split("; "))
        token, name = members.get(cookies.get("session"), ("", ""))
        right = token and self.headers.get("X-Token") == token and self.path == f"/of/{name}"
        with lock:
            log.write(f"{name if right else repr(self.path)}\n")
            log.flush()
        time.sleep(0.01)  # a load then leaves the CPUs to other tests
        self.answer(200 if right and cookies["theme"] == "dark" else 403, {"name": name})

    def answer(self, status, document, cookies=()):
        body = json.dumps(document).encode()
        self.send_response(status)
        for cookie in cookies:
            self.send_header("Set-Cookie", cookie)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a load tool that leaves at its end is no error


Quiet(("127.0.0.1", int(sys.argv[1])), Members).serve_forever()
