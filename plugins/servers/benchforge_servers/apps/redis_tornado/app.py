"""The key of study WS, kept in Redis, with Tornado and a blocking client for each request."""

import os

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from tornado.web import Application, HTTPError, RequestHandler

# The one loop of the process stands still meanwhile; trying again would stop it for seconds.
OPTIONS = {
    "socket_timeout": 10,
    "socket_connect_timeout": 10,
    "retry": Retry(NoBackoff(), 0),
    "decode_responses": True,
}


class Key(RequestHandler):
    def get(self):
        with connect() as redis:
            value = redis.get("foo")
        if value is None:
            raise HTTPError(404)
        self.write(value)

    def post(self):
        with connect() as redis:
            self.write(str(redis.set("foo", "bar")))

    def delete(self):
        with connect() as redis:
            self.write(str(redis.delete("foo")))


class PublishedKey(Key):
    def get(self):
        # As published: no key is the text None, and 200.
        with connect() as redis:
            self.write(str(redis.get("foo")))


def connect():
    return Redis.from_url(os.environ["REDIS_URL"], **OPTIONS)


app = Application([("/redis", Key)])
published = Application([("/redis", PublishedKey)])
