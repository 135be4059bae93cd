"""The key of study WS, kept in Redis, with Tornado and one asynchronous client.

What was published named a client that it did not import; this is what it meant to be.
"""

import os
from functools import cache

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from tornado.web import Application, HTTPError, RequestHandler

OPTIONS = {
    "socket_timeout": 10,
    "socket_connect_timeout": 10,
    "retry": Retry(NoBackoff(), 0),
    "decode_responses": True,
}


class Key(RequestHandler):
    async def get(self):
        value = await client().get("foo")
        if value is None:
            raise HTTPError(404)
        self.write(value)

    async def post(self):
        self.write(str(await client().set("foo", "bar")))

    async def delete(self):
        self.write(str(await client().delete("foo")))


@cache
def client():
    """Return this process's client, which keeps as many connections as requests ran at once."""
    return Redis.from_url(os.environ["REDIS_URL"], **OPTIONS)


app = Application([("/redis", Key)])
