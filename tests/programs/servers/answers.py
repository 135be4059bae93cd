"""Answers every request, as its arguments say: right, wrong, late, once, or never again."""

import argparse
import os
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--status", type=int, default=200)
parser.add_argument("--body", default="pong")
parser.add_argument("--type", default="text/plain")
parser.add_argument(
    "--start-after", type=float, default=0, help="listen only after so many seconds"
)
parser.add_argument("--die-after", type=int, default=0, help="exit at this request")
parser.add_argument("--wrong-after", type=int, default=0, help="answer something else from then on")
parser.add_argument("--grows", type=int, default=0, help="keep so many bytes of each answer")
parser.add_argument("--hang-after", type=int, default=0, help="answer nothing from then on")
parser.add_argument("--wait", type=float, default=0, help="seconds before each answer")
parser.add_argument(
    "--jitter", type=float, default=0, help="share that a process adds to it at most"
)
parser.add_argument("--close", action="store_true", help="close the connection after each answer")
options = parser.parse_args()
wait = options.wait * (1 + options.jitter * random.random())
seen = 0
kept = []
lock = threading.Lock()


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one piece: two would wait 40 ms for each other

    def do_GET(self):
        global seen
        with lock:
            seen += 1
            number = seen
        if options.die_after and number >= options.die_after:
            print("dying as told", file=sys.stderr, flush=True)
            os._exit(3)
        if options.hang_after and number >= options.hang_after:
            time.sleep(60)
        time.sleep(wait)
        if options.grows:
            kept.append(b"x" * options.grows)  # written to, or it would be no memory
        wrong = options.wrong_after and number >= options.wrong_after
        body = b"something else" if wrong else options.body.encode()
        self.send_response(options.status)
        self.send_header("Content-Type", options.type)
        self.send_header("Content-Length", str(len(body)))
        if options.close:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *words):
        pass


class Quiet(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass  # a load tool that leaves at its end is no error


time.sleep(options.start_after)
server = Quiet(("127.0.0.1", options.port), Answers)
server.daemon_threads = True
server.serve_forever()
