"""The agents of study AH, served by aiohttp and aiopg."""

import os

import aiopg
from agents import POOL, POOL_SIZE, QUERY, TIMEOUT, application, reply
from psycopg2.extras import RealDictCursor

# Else aiopg asks each new connection for a type that is not there.
CONNECTING = {"timeout": TIMEOUT, "enable_hstore": False}


async def agents(request):
    async with aiopg.connect(os.environ["DATABASE_URL"], **CONNECTING) as connection:
        return reply(await select_agents(connection))


async def agents_with_pool(request):
    async with request.app[POOL].acquire() as connection:
        return reply(await select_agents(connection))


async def select_agents(connection):
    async with connection.cursor(cursor_factory=RealDictCursor) as cursor:
        await cursor.execute(QUERY)
        return await cursor.fetchall()


def pool(url):
    """Return this worker's pool, which connects as requests come."""
    return aiopg.create_pool(url, minsize=0, maxsize=POOL_SIZE, **CONNECTING)


def create():
    return application(pool, agents=agents, agents_with_pool=agents_with_pool)


app = create()
