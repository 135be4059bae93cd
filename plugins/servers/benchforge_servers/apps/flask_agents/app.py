"""The agents of study AH, served by Flask and psycopg2."""

import os
from functools import cache
from threading import BoundedSemaphore

import psycopg2
from agents import CONNECT_TIMEOUT, POOL_SIZE, QUERY, application
from psycopg2.pool import ThreadedConnectionPool

# The pool raises when it is empty; waiting for a turn is what asyncpg's pool does.
turns = BoundedSemaphore(POOL_SIZE)


def agents():
    connection = psycopg2.connect(os.environ["DATABASE_URL"], connect_timeout=CONNECT_TIMEOUT)
    try:
        return select_agents(connection)
    finally:
        connection.close()


def agents_with_pool():
    pool = open_pool()
    with turns:
        connection = pool.getconn()
        try:
            return select_agents(connection)
        finally:
            pool.putconn(connection)


@cache
def open_pool():
    """Return this worker's pool, which connects as requests come and keeps what it opened."""
    pool = ThreadedConnectionPool(
        0, POOL_SIZE, os.environ["DATABASE_URL"], connect_timeout=CONNECT_TIMEOUT
    )
    # psycopg2 opens minconn connections at once and closes every further one that comes back.
    # Raised only now, nothing is opened ahead (a worker with one thread uses one connection)
    # and nothing is closed.
    pool.minconn = POOL_SIZE
    return pool


def select_agents(connection):
    # Else psycopg2 sends a BEGIN first: a round trip that Django and asyncpg do not make.
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(QUERY)
        fields = [column.name for column in cursor.description]
        return [dict(zip(fields, row)) for row in cursor.fetchall()]


app = application(agents, agents_with_pool)
