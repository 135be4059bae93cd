"""Does something to the process that keeps it, then answers: `halts.py PORT WAY`.

It is done to its parent's parent, which is the keeper: its parent is its own reaper.
"""

import ctypes
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
PTRACE_O_TRACEEXIT = 1 << 6  # it stops once more as it ends, and waits for who traces it
way = sys.argv[2]
with open(f"/proc/{os.getppid()}/stat") as file:
    victim = int(file.read().rpartition(")")[2].split()[1])
libc = ctypes.CDLL(None, use_errno=True)


def ptrace(request, data):
    arguments = (ctypes.c_long(request), victim, None, ctypes.c_void_p(data))
    if libc.ptrace(*arguments):
        print(f"ptrace: {os.strerror(ctypes.get_errno())}", file=sys.stderr, flush=True)


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"pong")

    def log_message(self, *words):
        pass


time.sleep(0.2)  # the keeper has told that it started us
if way == "traces":
    ptrace(PTRACE_SEIZE, PTRACE_O_TRACEEXIT)
    ptrace(PTRACE_INTERRUPT, 0)
elif way == "stops":
    os.kill(victim, signal.SIGSTOP)
elif way == "kills":
    os.kill(victim, signal.SIGKILL)
HTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
