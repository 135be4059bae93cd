"""Six kinds of requests as a bare WSGI callable: two without a database, four with one."""

import json
import os
import random
from functools import cache
from html import escape
from threading import Lock

from psycopg_pool import ConnectionPool

CONNECT_TIMEOUT = 10
FOR_GOOD = 365 * 86_400.0  # the pool's clock takes no infinity
POOL_SIZE = int(os.environ.get("SIX_POOL_SIZE", "10"))
HIGHEST, MOST = 10_000, 500
READ = "SELECT id, value FROM pairs WHERE id = %s"
WRITE = "UPDATE pairs SET value = %s WHERE id = %s"
LINE = "<li>{}: {}</li>"
PAGE = "<!doctype html><title>Proverbs</title><ul>{}</ul>"

opening = Lock()  # the first requests come at once, and each would open a pool


def app(environ, start_response):
    first, _, rest = environ["PATH_INFO"][1:].partition("/")
    if first in FIXED and not rest:
        status, kind, body = "200 OK", *FIXED[first]()
    elif first in STORED and (rest.isdecimal() or first == "proverbs"):
        with connected() as connection:
            status, kind, body = "200 OK", *STORED[first](connection, int(rest or 0))
    else:
        status, kind, body = "404 Not Found", "text/plain", b""
    headers = [("Content-Type", kind), ("Content-Length", str(len(body)))]
    start_response(status, headers)
    return [body]


def message():
    return "application/json", json.dumps({"greeting": "Good morning"}).encode()


def plain():
    return "text/plain", b"Good morning"


def row(connection, number):
    return as_json(read(connection, number))


def rows(connection, count):
    return as_json([read(connection, number) for number in drawn(count)])


def updates(connection, count):
    """Read rows, and write each with another value, in the order of their keys: no deadlocks."""
    found = [read(connection, number) for number in drawn(count)]
    for pair in found:
        pair["value"] = random.randint(1, HIGHEST)  # noqa: S311
        connection.execute(WRITE, (pair["value"], pair["id"]))
    return as_json(found)


def proverbs(connection, _):
    found = connection.execute("SELECT id, words FROM proverbs").fetchall()
    found.append((0, "Better late than never."))
    lines = [LINE.format(number, escape(words)) for number, words in sorted(found, key=by_words)]
    return "text/html; charset=utf-8", PAGE.format("".join(lines)).encode()


def read(connection, number):
    found = connection.execute(READ, (number,)).fetchone()
    return {"id": found[0], "value": found[1]}


def drawn(count):
    return sorted(random.sample(range(1, HIGHEST + 1), min(max(1, count), MOST)))


def by_words(pair):
    return pair[1]


def as_json(content):
    return "application/json", json.dumps(content).encode()


def connected():
    with opening:
        return open_pool().connection()


@cache
def open_pool():
    """Return this worker's pool, which connects as requests come and keeps what it opened."""
    return ConnectionPool(
        os.environ["DATABASE_URL"],
        # Without autocommit psycopg sends a BEGIN and a COMMIT, which asyncpg does not.
        kwargs={"connect_timeout": CONNECT_TIMEOUT, "autocommit": True},
        min_size=0,
        max_size=POOL_SIZE,
        timeout=CONNECT_TIMEOUT,
        max_idle=FOR_GOOD,
        max_lifetime=FOR_GOOD,
        open=True,
    )


FIXED = {"json": message, "plain": plain}
STORED = {"row": row, "rows": rows, "updates": updates, "proverbs": proverbs}
