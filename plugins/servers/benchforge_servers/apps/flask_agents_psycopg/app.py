"""The agents of study AH, served by Flask and psycopg 3."""

import json
import os
from functools import cache
from threading import Lock

import psycopg
from flask import Flask, Response
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

CONNECT_TIMEOUT = 10
FOR_GOOD = 365 * 86_400.0  # the pool's clock takes no infinity
POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "10"))
# Without autocommit psycopg sends a BEGIN first, and the pool a ROLLBACK afterwards: round trips
# that Django and asyncpg do not make.
CONNECTING = {"connect_timeout": CONNECT_TIMEOUT, "autocommit": True, "row_factory": dict_row}
QUERY = """
    SELECT af.number, als.extension, als.context, als.state_interface,
           'offline' AS status, '-1' AS extension_status, '0' AS paused
    FROM agentfeatures AS af LEFT JOIN agent_login_status AS als ON af.id = als.agent_id
"""

app = Flask(__name__, static_folder=None)
opening = Lock()  # the first requests come at once, and each would open a pool


@app.get("/index")
def index():
    return reply({"hello": "world"})


@app.get("/agents")
def agents():
    with psycopg.connect(os.environ["DATABASE_URL"], **CONNECTING) as connection:
        return reply(connection.execute(QUERY).fetchall())


@app.get("/agents_with_pool")
def agents_with_pool():
    with opening:
        pool = open_pool()
    with pool.connection() as connection:
        return reply(connection.execute(QUERY).fetchall())


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


def reply(content):
    return Response(json.dumps(content), mimetype="application/json")
