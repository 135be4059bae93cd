"""Counts the connections and the requests that it really gets; prints both when it is ended.

It answers as its arguments say: right, with another status, by a body cut short, with a close that
is told or not, or with a body whose length changes.
"""

import argparse
import json
import signal
import socketserver
import sys
import threading

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--certificate", help="PEM file with key and certificate: speak TLS")
parser.add_argument("--status", type=int, default=200)
parser.add_argument("--body", default='{"result":2}')
ways = ["right", "close-told", "close", "half", "reset", "grows"]
parser.add_argument("--way", choices=ways, default="right")
parser.add_argument("--every", type=int, default=1, help="go that way at every so many requests")
options = parser.parse_args()
tls = None
if options.certificate:
    import ssl  # seldom needed, and as much work as all else here

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(options.certificate)
observed = {"connections": 0, "requests": 0, "answered": 0, "asked": []}
lock = threading.Lock()


class Counted(socketserver.StreamRequestHandler):
    wbufsize = -1  # headers and body in one piece: two would wait 40 ms for each other

    def setup(self):
        with lock:
            observed["connections"] += 1
        if tls is not None:
            self.request = tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def handle(self):
        while line := self.rfile.readline():
            headers = {}
            while field := self.rfile.readline().decode().strip():
                name, _, value = field.partition(":")
                headers[name.lower()] = value.strip()
            body = self.rfile.read(int(headers.get("content-length", 0)))
            with lock:
                observed["requests"] += 1
                number = observed["requests"]
                if number <= 3:
                    observed["asked"].append([line.decode().split()[:2], headers, body.decode()])
            way = options.way if number % options.every == 0 else "right"
            if way == "reset":
                return
            self.answer(way, number, line.startswith(b"HEAD"))
            if way in {"close", "close-told", "half"} or headers.get("connection") == "close":
                return

    def answer(self, way, number, head):
        body = options.body.encode() + (b" " * number if way == "grows" else b"")
        text = f"HTTP/1.1 {options.status} Said\r\nContent-Type: application/json\r\n"
        if options.status in {301, 302}:
            text += "Location: /elsewhere\r\n"
        text += f"Content-Length: {len(body)}\r\n"
        if way == "close-told":
            text += "Connection: close\r\n"
        self.wfile.write(text.encode() + b"\r\n")
        if not head:
            self.wfile.write(body[: len(body) // 2] if way == "half" else body)
        self.wfile.flush()
        with lock:
            observed["answered"] += 1


class Threads(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        pass  # a client that leaves, or does not trust us, is no error


def end(*_):
    with lock:
        print(json.dumps(observed), flush=True)
    sys.exit()


server = Threads(("127.0.0.1", options.port), Counted)
signal.signal(signal.SIGTERM, end)
server.serve_forever()
