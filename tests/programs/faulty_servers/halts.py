"""Does something to the process that keeps it, then answers: `halts.py PORT WAY`.

It is done to its parent's parent, which is the keeper: its parent is its own reaper.
"""

import ctypes
import os
import signal
import sys
import time
from http.server import HTTPServer

sys.path.append(f"{sys.path[0]}/../servers")
from answerer import Answerer

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


class Answers(Answerer):
    def do_GET(self):
        self.send(200, b"pong")


time.sleep(0.2)  # the keeper has told that it started us
if way == "traces":
    ptrace(PTRACE_SEIZE, PTRACE_O_TRACEEXIT)
    ptrace(PTRACE_INTERRUPT, 0)
elif way == "stops":
    os.kill(victim, signal.SIGSTOP)
elif way == "kills":
    os.kill(victim, signal.SIGKILL)
HTTPServer(("127.0.0.1", int(sys.argv[1])), Answers).serve_forever()
