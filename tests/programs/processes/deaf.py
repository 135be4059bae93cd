"""Ignore INT, TERM and HUP; say so in a file, and stay. deaf.py READY"""

import os, signal, sys, time

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
os.close(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY))
while True:
    time.sleep(60)
