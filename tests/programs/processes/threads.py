"""One thread that burns, one that sleeps, one that ended: threads.py SECONDS LOOKS

Who watches adds a byte to LOOKS with each look. Nothing is burnt before the first; the thread that
ends does so once all that it used was seen.
"""

import os, resource, signal, sys, threading, time

seconds, looks = float(sys.argv[1]), sys.argv[2]
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
signal.alarm(300)


def looked(more):
    """Wait until so many looks more have ended: the second of two has begun since."""
    until = os.path.getsize(looks) + more
    while os.path.getsize(looks) < until:
        time.sleep(0.02)


def burn(seconds):
    while time.thread_time() < seconds:
        sum(range(5_000))


def burn_and_end(seconds):
    burn(seconds)
    looked(2)


def burn_and_stay(seconds):
    burn(seconds)
    print("done", flush=True)
    time.sleep(300)  # who looks seldom sees all that it used


looked(1)
short = threading.Thread(target=burn_and_end, args=(seconds / 4,))
short.start()
short.join()
threading.Thread(target=burn_and_stay, args=(seconds,), daemon=True).start()
threading.Thread(target=time.sleep, args=(300,), daemon=True).start()
time.sleep(300)
