"""Six kinds of requests as a bare ASGI callable: two without a database, four with one."""

import os

import asyncpg
from answers import FIXED, POOL_SIZE, as_json, drawn, page, value

# Under gunicorn nothing ends a request that waits for ever: an async worker stays alive.
TIMEOUT = 10
READ = "SELECT id, value FROM pairs WHERE id = $1"
WRITE = "UPDATE pairs SET value = $1 WHERE id = $2"

pools = []


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await live(receive, send)
        return
    first, _, rest = scope["path"][1:].partition("/")
    if first in FIXED and not rest:
        status, kind, body = 200, *FIXED[first]()
    elif first in STORED and (rest.isdecimal() or first == "proverbs"):
        async with pools[0].acquire() as connection:
            status, kind, body = 200, *await STORED[first](connection, int(rest or 0))
    else:
        status, kind, body = 404, "text/plain", b""
    headers = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def live(receive, send):
    """Open a pool when the worker starts, and close it at its end."""
    await receive()
    pool = await asyncpg.create_pool(
        os.environ["DATABASE_URL"],
        min_size=0,
        max_size=POOL_SIZE,
        # Connections are kept for good and come back without a query, as psycopg's do.
        max_inactive_connection_lifetime=0,
        reset=nothing,
        timeout=TIMEOUT,
        command_timeout=TIMEOUT,
    )
    pools.append(pool)
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await pool.close()
    await send({"type": "lifespan.shutdown.complete"})


async def nothing(connection):
    pass


async def row(connection, number):
    return as_json(await read(connection, number))


async def rows(connection, count):
    return as_json([await read(connection, number) for number in drawn(count)])


async def updates(connection, count):
    """Read rows, and write each with another value, in the order of their keys: no deadlocks."""
    found = [await read(connection, number) for number in drawn(count)]
    for pair in found:
        pair["value"] = value()
        await connection.execute(WRITE, pair["value"], pair["id"])
    return as_json(found)


async def proverbs(connection, _):
    return page(map(tuple, await connection.fetch("SELECT id, words FROM proverbs")))


async def read(connection, number):
    return dict(await connection.fetchrow(READ, number))


STORED = {"row": row, "rows": rows, "updates": updates, "proverbs": proverbs}
