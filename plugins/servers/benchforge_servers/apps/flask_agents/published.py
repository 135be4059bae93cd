"""The agents of study AH as published with Flask: text/html, and a pool that leaks."""

import json
import os
from functools import cache

import psycopg2
from agents import CONNECT_TIMEOUT, QUERY, application
from psycopg2.extras import RealDictCursor
from psycopg2.pool import ThreadedConnectionPool

POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "30"))


def agents():
    connection = psycopg2.connect(os.environ["DATABASE_URL"], connect_timeout=CONNECT_TIMEOUT)
    try:
        return select_agents(connection)
    finally:
        connection.close()


def agents_with_pool():
    connection = open_pool().getconn()
    try:
        return select_agents(connection)
    finally:
        # As published, instead of handing it back: the pool believes it in use for ever, and a
        # worker that has answered as often as its pool is large has errors only.
        connection.close()


@cache
def open_pool():
    """Return this worker's pool, with all its connections open."""
    return ThreadedConnectionPool(
        POOL_SIZE, POOL_SIZE, os.environ["DATABASE_URL"], connect_timeout=CONNECT_TIMEOUT
    )


def select_agents(connection):
    with connection.cursor(cursor_factory=RealDictCursor) as cursor:
        cursor.execute(QUERY)
        return cursor.fetchall()


app = application(agents, agents_with_pool, json.dumps)
