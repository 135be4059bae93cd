"""The agents of study AH, served by Flask and psycopg2."""

import json
import os
from functools import cache
from threading import BoundedSemaphore

import psycopg2
from flask import Flask, Response
from psycopg2.pool import ThreadedConnectionPool

CONNECT_TIMEOUT = 10
POOL_SIZE = int(os.environ.get("AGENTS_POOL_SIZE", "10"))
QUERY = """
    SELECT af.number, als.extension, als.context, als.state_interface,
           'offline' AS status, '-1' AS extension_status, '0' AS paused
    FROM agentfeatures AS af LEFT JOIN agent_login_status AS als ON af.id = als.agent_id
"""

app = Flask(__name__, static_folder=None)
# The pool raises when it is empty; waiting for a turn is what asyncpg's pool does.
turns = BoundedSemaphore(POOL_SIZE)


@app.get("/index")
def index():
    return reply({"hello": "world"})


@app.get("/agents")
def agents():
    connection = psycopg2.connect(os.environ["DATABASE_URL"], connect_timeout=CONNECT_TIMEOUT)
    try:
        return reply(select_agents(connection))
    finally:
        connection.close()


@app.get("/agents_with_pool")
def agents_with_pool():
    pool = open_pool()
    with turns:
        connection = pool.getconn()
        try:
            return reply(select_agents(connection))
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


def reply(content):
    return Response(json.dumps(content), mimetype="application/json")
