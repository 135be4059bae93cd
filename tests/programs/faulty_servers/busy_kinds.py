"""A shop that is wrong about kinds of requests while it is loaded: busy_kinds.py PORT FAULT.

GET /items/N shows an item, POST /carts makes a cart, and POST /carts/N/pay pays it. With three
connections or more, what FAULT names (item, add or pay; none for nothing) has a wrong body, as long
as the right one. It answers after some milliseconds, and ends by itself after two minutes.
"""

import itertools, json, os, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULT, SEVERAL = sys.argv[2], 3
carts, lock, open_now = itertools.count(100), threading.Lock(), 0


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def setup(self):
        global open_now
        super().setup()
        with lock:
            open_now += 1

    def finish(self):
        global open_now
        with lock:
            open_now -= 1
        super().finish()

    def do_GET(self):
        self.answer("item", 200, "item", int(self.path.rpartition("/")[2]))

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/carts":
            self.answer("add", 201, "cart", next(carts))
        else:
            self.answer("pay", 200, "paid", int(self.path.split("/")[2]))

    def answer(self, kind, status, key, number):
        time.sleep(0.003)
        wrong = kind == FAULT and open_now >= SEVERAL
        name = key[::-1] if wrong else key
        body = json.dumps({name: number}).encode()
        self.send_response(status)
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


threading.Timer(120, os._exit, [0]).start()
Quiet(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
