"""Take memory until there is no more; without a limit it refuses. eats.py"""

import resource, sys

if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
    sys.exit("there is no limit of memory: it would be the machine's")
eaten = []
while True:
    eaten.append(bytearray(16 << 20))
