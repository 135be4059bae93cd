"""The agents of study AH as published with Flask: text/html, and a pool that leaks."""

import json
import os
from functools import cache

import psycopg2
from flask import Flask
from psycopg2.extras import RealDictCursor
from psycopg2.pool import ThreadedConnectionPool

CONNECT_TIMEOUT = 10
POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "30"))
QUERY = """
    SELECT af.number, als.extension, als.context, als.state_interface,
           'offline' AS status, '-1' AS extension_status, '0' AS paused
    FROM agentfeatures AS af LEFT JOIN agent_login_status AS als ON af.id = als.agent_id
"""

app = Flask(__name__, static_folder=None)


@app.get("/index")
def index():
    return json.dumps({"hello": "world"})


@app.get("/agents")
def agents():
    connection = psycopg2.connect(os.environ["DATABASE_URL"], connect_timeout=CONNECT_TIMEOUT)
    try:
        return json.dumps(select_agents(connection))
    finally:
        connection.close()


@app.get("/agents_with_pool")
def agents_with_pool():
    connection = open_pool().getconn()
    try:
        return json.dumps(select_agents(connection))
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
