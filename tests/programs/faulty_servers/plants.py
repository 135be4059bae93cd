"""Puts things where others write or read, then answers: `plants.py PORT WAY`.

Its log stands in the folder of the trial.
"""

import ctypes
import os
import sys
import time

os.chdir(os.path.dirname(os.readlink("/proc/self/fd/2")))
way, files = sys.argv[2], ("loader-load.out", "loader-load.err")
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
    ctypes.CDLL(None).prctl(15, b") R 1 1 1 (\n", 0, 0, 0)
if way == "floods":
    if os.fork() == 0:
        while True:
            os.write(1, b"x" * 65536)
sys.argv[2] = "nothing"
exec(open(__file__.replace("plants.py", "halts.py")).read())
