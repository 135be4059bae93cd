"""A WSGI app that answers pong after 5 ms, and imports nothing else."""

import time


def app(environ, start):
    time.sleep(0.005)
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
