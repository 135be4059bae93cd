"""The agents of study AH, served by FastAPI and asyncpg."""

import json
import os
from contextlib import asynccontextmanager

import asyncpg
from fastapi import FastAPI, Request, Response

# Under gunicorn nothing ends a request that waits for ever: an async worker stays alive.
TIMEOUT = 10
POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "10"))
QUERY = """
    SELECT af.number, als.extension, als.context, als.state_interface,
           'offline' AS status, '-1' AS extension_status, '0' AS paused
    FROM agentfeatures AS af LEFT JOIN agent_login_status AS als ON af.id = als.agent_id
"""


@asynccontextmanager
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
    ) as app.state.pool:
        yield


async def nothing(connection):
    pass


app = FastAPI(lifespan=open_pool)


@app.get("/index")
async def index():
    return reply({"hello": "world"})


@app.get("/agents")
async def agents():
    connection = await asyncpg.connect(
        os.environ["DATABASE_URL"], timeout=TIMEOUT, command_timeout=TIMEOUT
    )
    try:
        return reply(await select_agents(connection))
    finally:
        await connection.close(timeout=TIMEOUT)


@app.get("/agents_with_pool")
async def agents_with_pool(request: Request):
    async with request.app.state.pool.acquire() as connection:
        return reply(await select_agents(connection))


async def select_agents(connection):
    return [dict(row) for row in await connection.fetch(QUERY)]


def reply(content):
    # As the other apps write it: FastAPI's own responses have no spaces between values.
    return Response(json.dumps(content), media_type="application/json")
