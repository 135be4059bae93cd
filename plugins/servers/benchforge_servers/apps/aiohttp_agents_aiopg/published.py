"""The agents of study AH as published with aiohttp and aiopg: a warm pool, and compact JSON."""

import os

import aiopg
import ujson
from aiohttp import web
from app import POOL, TIMEOUT, late_is_500, select_agents

POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "30"))


async def index(request):
    return reply({"hello": "world"})


@late_is_500
async def agents(request):
    async with request.app[POOL].acquire() as connection:
        return reply(await select_agents(connection))


def reply(content):
    return web.Response(body=ujson.dumps(content).encode(), content_type="application/json")


async def open_pool(app):
    """Keep a pool while the worker runs; as published all of it is open before the first request.

    As published it never speaks TLS, which the study's other servers did with the same database.
    """
    if "DATABASE_URL" not in os.environ:
        yield
        return
    async with aiopg.create_pool(
        os.environ["DATABASE_URL"],
        minsize=POOL_SIZE,
        maxsize=POOL_SIZE,
        timeout=TIMEOUT,
        sslmode="disable",
    ) as pool:
        app[POOL] = pool
        yield


def create():
    app = web.Application()
    app.cleanup_ctx.append(open_pool)
    app.router.add_get("/index", index)
    app.router.add_get("/agents", agents)
    return app


app = create()
