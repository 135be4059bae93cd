"""One thread that burns, one that sleeps, one that ended: threads.py SECONDS"""

import resource, signal, sys, threading, time

resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
signal.alarm(60)


def burn(seconds):
    while time.thread_time() < seconds:
        sum(range(5_000))


def burn_and_stay(seconds):
    burn(seconds)
    print("done", flush=True)
    time.sleep(60)  # who looks seldom sees all that it used


time.sleep(0.2)
short = threading.Thread(target=burn, args=(float(sys.argv[1]) / 4,))
short.start()
short.join()
threading.Thread(target=burn_and_stay, args=(float(sys.argv[1]),), daemon=True).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
time.sleep(60)
