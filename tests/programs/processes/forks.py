"""Fork for ever: children live for moments, each third leaves an orphan behind. forks.py READY"""

import os, sys, time

os.close(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY))
number = 0
while True:
    number += 1
    child = os.fork()
    if child == 0:
        if number % 3 == 0 and os.fork() == 0:
            time.sleep(1)
        os._exit(0)
    os.waitpid(child, 0)
    time.sleep(0.01)
