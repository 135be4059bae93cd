"""The agents of study AH, served by aiohttp and asyncpg."""

import os

import asyncpg
from agents import POOL, POOL_SIZE, QUERY, TIMEOUT, application, reply


async def agents(request):
    connection = await asyncpg.connect(
        os.environ["DATABASE_URL"], timeout=TIMEOUT, command_timeout=TIMEOUT
    )
    try:
        return reply(await select_agents(connection))
    finally:
        await connection.close(timeout=TIMEOUT)


async def agents_with_pool(request):
    async with request.app[POOL].acquire() as connection:
        return reply(await select_agents(connection))


async def select_agents(connection):
    return [dict(row) for row in await connection.fetch(QUERY)]


def pool(url):
    """Return this worker's pool, which connects as requests come."""
    return asyncpg.create_pool(
        url,
        min_size=0,
        max_size=POOL_SIZE,
        # Connections are kept for good and come back without a query, as psycopg2's do.
        max_inactive_connection_lifetime=0,
        reset=nothing,
        timeout=TIMEOUT,
        command_timeout=TIMEOUT,
    )


async def nothing(connection):
    pass


app = application(pool, agents=agents, agents_with_pool=agents_with_pool)
