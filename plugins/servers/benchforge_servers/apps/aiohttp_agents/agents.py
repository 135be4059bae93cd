"""The agents of study AH, served by aiohttp; the modules beside it choose the driver."""

import asyncio
import json
import os

from aiohttp import web

# Under gunicorn nothing ends a request that waits for ever: an async worker stays alive.
TIMEOUT = 10
POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "10"))
QUERY = """
    SELECT af.number, als.extension, als.context, als.state_interface,
           'offline' AS status, '-1' AS extension_status, '0' AS paused
    FROM agentfeatures AS af LEFT JOIN agent_login_status AS als ON af.id = als.agent_id
"""
POOL = web.AppKey("pool", object)


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


def reply(content):
    # Given a text instead of bytes, aiohttp would add a charset to the type.
    return web.Response(body=json.dumps(content).encode(), content_type="application/json")


def application(pool, index=index, **handlers):
    """Make the app, given its pool, which waits for no request, and who answers /agents..."""

    async def open_pool(app):
        if "DATABASE_URL" not in os.environ:
            yield  # /index is served without a database
            return
        async with pool(os.environ["DATABASE_URL"]) as app[POOL]:
            yield

    app = web.Application()
    app.cleanup_ctx.append(open_pool)
    app.router.add_get("/index", index)
    for name, handler in handlers.items():
        app.router.add_get(f"/{name}", late_is_500(handler))
    return app
