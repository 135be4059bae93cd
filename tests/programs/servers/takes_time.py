"""Answers each request after a third of a second. takes_time.py PORT"""

import sys, time

from answerer import Answerer, serve


class Slow(Answerer):
    def do_GET(self):
        time.sleep(0.33)
        self.send(200, b"pong")


serve(sys.argv[1], Slow)
