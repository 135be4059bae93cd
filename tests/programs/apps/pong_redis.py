"""A WSGI app that answers pong after a script in Redis, which counts to ASKS."""

import os

import redis

asked = redis.Redis.from_url(os.environ["REDIS_URL"])
script = f"local n = 0; for i = 1, {int(os.environ['ASKS'])} do n = n + i end; return n"


def app(environ, start):
    asked.eval(script, 0)
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"pong"]
