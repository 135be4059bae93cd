"""Burn CPU, half in a child that is waited for. burns.py SECONDS"""

import os, sys, time

half = float(sys.argv[1]) / 2
child = os.fork()
until = time.process_time() + half
while time.process_time() < until:
    sum(range(10_000))
if child:
    os.waitpid(child, 0)
