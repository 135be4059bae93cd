"""Breaks HTTP or its logs in one way: half a body, no answer, binary garbage."""

import argparse
import os
import socketserver
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--way", choices=["half", "close", "garbage", "slow", "right"], default="right")
parser.add_argument("--after", type=int, default=1, help="from this request on")
parser.add_argument("--binary", action="store_true", help="print bytes of all kinds, then end")
options = parser.parse_args()
observed = 0
lock = threading.Lock()


class Broken(socketserver.StreamRequestHandler):
    def handle(self):
        global observed
        while self.rfile.readline():
            while self.rfile.readline().strip():
                pass
            with lock:
                observed += 1
                way = options.way if observed >= options.after else "right"
            if way == "close":
                return
            if way == "garbage":
                self.wfile.write(bytes(range(256)) * 4)
                return
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\n"
            if way == "right":
                time.sleep(0.003)  # as quick as can be, a load takes all CPUs of a small machine
                self.wfile.write(head + b"pong")
                continue
            self.wfile.write(head + b"po")
            if way == "slow":
                time.sleep(60)
            return


class Threads(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        pass  # a load tool that leaves at its end is no error


if options.binary:
    sys.stderr.buffer.write(bytes(range(256)) + b"\x1b[31mred\x1b]0;title\x07\n")
    sys.stderr.flush()
    os._exit(7)
Threads(("127.0.0.1", options.port), Broken).serve_forever()
