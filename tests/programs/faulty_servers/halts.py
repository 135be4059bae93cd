"""Hurts those around it, then answers: `halts.py PORT WAY`.

It does something to its parent's parent, which is the keeper, since its parent is its own reaper; or
it puts things where others write or read, in the folder of the trial, in which its log stands.
"""

import ctypes, os, signal, sys, time

sys.path.append(f"{sys.path[0]}/../servers")
from wire import answer_each

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


os.chdir(os.path.dirname(os.readlink("/proc/self/fd/2")))
files = ("loader-load.out", "loader-load.err")
if way == "links":
    with open("elsewhere", "w") as file:
        file.write("kept")
for name in files:
    if way == "pipes":
        os.mkfifo(name)
    elif way == "links":
        os.symlink("elsewhere", name)
    elif way == "folders":
        os.mkdir(name)
    elif way == "devices":
        os.symlink("/dev/zero", name)
if way == "own":  # its own log, which is read once it has ended
    os.remove("server-a.err")
    os.mkfifo("server-a.err")
    sys.exit(3)
if way == "huge":
    os.truncate("server-a.err", 1 << 40)
    sys.exit(3)
if way == "forks":  # each leaves its session, as daemons do
    for _ in range(60):
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
if way == "renames":
    libc.prctl(15, b") R 1 1 1 (\n", 0, 0, 0)
if way == "floods":
    if os.fork() == 0:
        while True:
            os.write(1, b"x" * 65536)
time.sleep(0.2)  # the keeper has told that it started us
if way == "traces":
    ptrace(PTRACE_SEIZE, PTRACE_O_TRACEEXIT)
    ptrace(PTRACE_INTERRUPT, 0)
elif way == "stops":
    os.kill(victim, signal.SIGSTOP)
elif way == "kills":
    os.kill(victim, signal.SIGKILL)
answer_each(sys.argv[1], lambda *_: (200, b"pong"))
