"""The key of study WS, kept in Redis, with Flask and one client for the process.

Under gevent the client waits for Redis alone if Python is monkey-patched, else all wait with it.
"""

import os
from functools import cache

from flask import Flask, abort
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

OPTIONS = {
    "socket_timeout": 10,
    "socket_connect_timeout": 10,
    "retry": Retry(NoBackoff(), 0),
    "decode_responses": True,
}

app = Flask(__name__, static_folder=None)
published = Flask(__name__, static_folder=None)


@app.get("/redis")
def get():
    value = client().get("foo")
    return abort(404) if value is None else value


@app.post("/redis")
def post():
    return str(client().set("foo", "bar"))


@app.delete("/redis")
def delete():
    return str(client().delete("foo"))


@published.get("/redis")
def published_get():
    # As published: without the key nothing is returned, which Flask answers with 500; and the
    # views that set and delete it hide behind this one, on a route for GET alone.
    return client().get("foo")


@cache
def client():
    """Return this process's client, which keeps as many connections as requests ran at once."""
    return Redis.from_url(os.environ["REDIS_URL"], **OPTIONS)
