"""Fork twice into a session of its own, deaf to TERM, and let the first process end. daemon.py READY"""

import os, runpy, sys

if os.fork():
    sys.exit()
os.setsid()
if os.fork():
    sys.exit()
runpy.run_path(os.path.join(os.path.dirname(__file__), "deaf.py"))
