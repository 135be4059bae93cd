"""Serve as answers.py does, after a daemon of ours went to other CPUs. wanders.py CPUS ARG..."""

import os, sys, time
from pathlib import Path

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.sched_setaffinity(0, [int(cpu) for cpu in sys.argv[1].split(",")])
        time.sleep(60)
    os._exit(0)
os.wait()
os.execv(sys.executable, [sys.executable, str(Path(__file__).parent / "answers.py"), *sys.argv[2:]])
