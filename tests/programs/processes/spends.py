"""Spend CPU in children: spends.py waited|ignored|orphans COUNT SECONDS FILE

They print into FILE what each used; a line `done` follows, and it sleeps until it is ended.
"""

import os, resource, signal, sys, time

how, count, seconds, file = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
signal.alarm(60)
told = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
if how == "ignored":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def spend():
    while time.process_time() < seconds:
        sum(range(5_000))
    os.write(told, f"{time.process_time()}\n".encode())
    os._exit(0)


time.sleep(0.3)
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
os.write(told, b"done\n")
time.sleep(60)
