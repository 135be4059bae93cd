"""A server that hides what it uses: daemonic.py PORT FILE AFTER SECONDS MEGABYTES

It holds MEGABYTES in a memfd and as many in a file of /dev/shm that are written and not mapped, and
leaves a third as many in a file that is closed. The answer to request AFTER waits until two daemons
in sessions of their own have burned SECONDS of CPU each; one of them ends then. FILE has a line for
each: what it used, by its own os.times().
"""

import os, signal, sys, time

from wire import answer_each

port, file, number = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
seconds, megabytes = float(sys.argv[4]), int(sys.argv[5])
requests = 0


def fill(descriptor):
    for _ in range(megabytes):
        os.write(descriptor, b"x" * (1 << 20))
    return descriptor


def daemon(stays):
    """Burn CPU in a process that nobody waits for, of another session."""
    if child := os.fork():
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.alarm(60)
    while sum(os.times()[:2]) < seconds:
        sum(range(5_000))
    with open(file, "a") as actual:
        actual.write(f"{sum(os.times()[:2])}\n")
    if stays:
        time.sleep(50)
    os._exit(0)


def answer(*_):
    global requests
    requests += 1
    if requests == number:
        daemon(stays=True)
        daemon(stays=False)
        while not os.path.exists(file) or len(open(file).readlines()) < 2:
            time.sleep(0.01)
    return 200, b"hello"


memory = fill(os.memfd_create("hidden")), fill(os.open("/dev/shm/held", os.O_RDWR | os.O_CREAT))
megabytes //= 3
os.close(fill(os.open("/dev/shm/closed", os.O_RDWR | os.O_CREAT)))
answer_each(port, answer)
