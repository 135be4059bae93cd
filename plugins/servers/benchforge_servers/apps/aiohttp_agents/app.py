"""The agents of study AH, served by aiohttp and asyncpg."""

import argparse
import asyncio
import json
import os

import asyncpg
from aiohttp import web

# Under gunicorn nothing ends a request that waits for ever: an async worker stays alive.
TIMEOUT = 10
POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "10"))
QUERY = """
    SELECT af.number, als.extension, als.context, als.state_interface,
           'offline' AS status, '-1' AS extension_status, '0' AS paused
    FROM agentfeatures AS af LEFT JOIN agent_login_status AS als ON af.id = als.agent_id
"""
POOL = web.AppKey("pool", asyncpg.Pool)


def late_is_500(handler):
    """Answer 500 when the database is late, as for its other errors; aiohttp alone says 504."""

    async def answer(request):
        try:
            return await handler(request)
        except asyncio.TimeoutError as late:  # noqa: UP041 - another one before Python 3.11
            raise RuntimeError("the database did not answer in time") from late

    return answer


async def index(request):
    return reply({"hello": "world"})


@late_is_500
async def agents(request):
    connection = await asyncpg.connect(
        os.environ["DATABASE_URL"], timeout=TIMEOUT, command_timeout=TIMEOUT
    )
    try:
        return reply(await select_agents(connection))
    finally:
        await connection.close(timeout=TIMEOUT)


@late_is_500
async def agents_with_pool(request):
    async with request.app[POOL].acquire() as connection:
        return reply(await select_agents(connection))


async def select_agents(connection):
    return [dict(row) for row in await connection.fetch(QUERY)]


def reply(content):
    # Given a text instead of bytes, aiohttp would add a charset to the type.
    return web.Response(body=json.dumps(content).encode(), content_type="application/json")


async def open_pool(app):
    """Keep a pool while the worker runs; it connects as requests come."""
    if "DATABASE_URL" not in os.environ:
        yield
        return
    async with asyncpg.create_pool(
        os.environ["DATABASE_URL"],
        min_size=0,  # so that /index is served without a database
        max_size=POOL_SIZE,
        # Connections are kept for good and come back without a query, as psycopg2's do.
        max_inactive_connection_lifetime=0,
        reset=nothing,
        timeout=TIMEOUT,
        command_timeout=TIMEOUT,
    ) as pool:
        app[POOL] = pool
        yield


async def nothing(connection):
    pass


def create(argv=None):
    """Build the application; also the entry function of `python -m aiohttp.web app:create`."""
    app = web.Application()
    app.cleanup_ctx.append(open_pool)
    app.router.add_get("/index", index)
    app.router.add_get("/agents", agents)
    app.router.add_get("/agents_with_pool", agents_with_pool)
    return app


app = create()

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args()
    # No access log: gunicorn writes none either.
    web.run_app(app, host=options.host, port=options.port, access_log=None)
