"""Six kinds of requests as a bare WSGI callable: two without a database, four with one."""

import os
from functools import cache
from threading import Lock

from answers import FIXED, POOL_SIZE, as_json, drawn, page, value
from psycopg_pool import ConnectionPool

CONNECT_TIMEOUT = 10
FOR_GOOD = 365 * 86_400.0  # the pool's clock takes no infinity
READ = "SELECT id, value FROM pairs WHERE id = %s"
WRITE = "UPDATE pairs SET value = %s WHERE id = %s"

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


def row(connection, number):
    return as_json(read(connection, number))


def rows(connection, count):
    return as_json([read(connection, number) for number in drawn(count)])


def updates(connection, count):
    """Read rows, and write each with another value, in the order of their keys: no deadlocks."""
    found = [read(connection, number) for number in drawn(count)]
    for pair in found:
        pair["value"] = value()
        connection.execute(WRITE, (pair["value"], pair["id"]))
    return as_json(found)


def proverbs(connection, _):
    return page(connection.execute("SELECT id, words FROM proverbs").fetchall())


def read(connection, number):
    found = connection.execute(READ, (number,)).fetchone()
    return {"id": found[0], "value": found[1]}


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


STORED = {"row": row, "rows": rows, "updates": updates, "proverbs": proverbs}
