"""The agents of study AH, served by Flask and psycopg 3."""

import os
from functools import cache
from threading import Lock

import psycopg
from agents import CONNECT_TIMEOUT, POOL_SIZE, QUERY, application
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

FOR_GOOD = 365 * 86_400.0  # the pool's clock takes no infinity
# Without autocommit psycopg sends a BEGIN first, and the pool a ROLLBACK afterwards: round trips
# that Django and asyncpg do not make.
CONNECTING = {"connect_timeout": CONNECT_TIMEOUT, "autocommit": True, "row_factory": dict_row}

opening = Lock()  # the first requests come at once, and each would open a pool


def agents():
    with psycopg.connect(os.environ["DATABASE_URL"], **CONNECTING) as connection:
        return connection.execute(QUERY).fetchall()


def agents_with_pool():
    with opening:
        pool = open_pool()
    with pool.connection() as connection:
        return connection.execute(QUERY).fetchall()


@cache
def open_pool():
    """Return this worker's pool, which connects as requests come and keeps what it opened."""
    return ConnectionPool(
        os.environ["DATABASE_URL"],
        kwargs=CONNECTING,
        min_size=0,
        max_size=POOL_SIZE,
        timeout=CONNECT_TIMEOUT,
        max_idle=FOR_GOOD,
        max_lifetime=FOR_GOOD,
        open=True,
    )


app = application(agents, agents_with_pool)
