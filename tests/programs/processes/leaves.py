"""Burn CPU in an orphan of another session, and end after it. leaves.py SECONDS FILE

FILE has what the orphan used.
"""

import os, sys, time

seconds, file = float(sys.argv[1]), sys.argv[2]
reads, writes = os.pipe()
if not (child := os.fork()):
    os.setsid()
    if orphan := os.fork():
        os.write(writes, str(orphan).encode())
        os._exit(0)
    while sum(os.times()[:2]) < seconds:
        sum(range(5_000))
    with open(file, "w") as actual:
        actual.write(str(sum(os.times()[:2])))
    os._exit(0)
os.waitpid(child, 0)
orphan = int(os.read(reads, 20))
try:
    while True:  # until somebody has waited for it
        os.kill(orphan, 0)
        time.sleep(0.01)
except ProcessLookupError:
    pass
