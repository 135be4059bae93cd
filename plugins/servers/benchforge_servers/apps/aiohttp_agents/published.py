"""The agents of study AH as published with aiohttp and aiopg: a warm pool, and compact JSON."""

import os

import aiopg
import ujson
from agents import POOL, TIMEOUT, application
from aiohttp import web
from with_aiopg import select_agents

POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "30"))


async def index(request):
    return reply({"hello": "world"})


async def agents(request):
    async with request.app[POOL].acquire() as connection:
        return reply(await select_agents(connection))


def reply(content):
    return web.Response(body=ujson.dumps(content).encode(), content_type="application/json")


def pool(url):
    """Return this worker's pool; as published all of it is open before the first request.

    As published it never speaks TLS, which the study's other servers did with the same database.
    """
    sizes = {"minsize": POOL_SIZE, "maxsize": POOL_SIZE}
    return aiopg.create_pool(url, **sizes, timeout=TIMEOUT, sslmode="disable")


def create():
    return application(pool, index, agents=agents)


app = create()
