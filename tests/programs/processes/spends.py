"""Spend CPU in children: spends.py waited|ignored|orphans COUNT SECONDS FILE LOOKS

Who watches adds a byte to LOOKS with each look. The children begin once it has looked; those that
nobody waits for end once it has looked at all that they used. They print into FILE what each used; a
line `done` follows, and it sleeps until it is ended.
"""

import os, resource, signal, sys, time

how, count, seconds, file, looks = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:]
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
signal.alarm(300)
actual = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
if how == "ignored":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def looked(more):
    """Wait until so many looks more have ended: the second of two has begun since."""
    until = os.path.getsize(looks) + more
    while os.path.getsize(looks) < until:
        time.sleep(0.02)


def spend():
    while time.process_time() < seconds:
        sum(range(5_000))
    if how != "waited":
        looked(2)
    os.write(actual, f"{time.process_time()}\n".encode())
    os._exit(0)


looked(1)
for _ in range(count):
    child = os.fork()
    if child == 0:
        if how == "orphans" and os.fork():
            os._exit(0)
        spend()
    if how == "ignored":
        while os.path.exists(f"/proc/{child}"):
            time.sleep(0.01)
    else:
        os.waitpid(child, 0)
while len(open(file).readlines()) < count:
    time.sleep(0.01)
os.write(actual, b"done\n")
time.sleep(300)
