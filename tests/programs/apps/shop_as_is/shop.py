"""An app as people write it for a compose file: it knows its database and its cache by name."""

import json
import os
import socket
import sys

import psycopg
import redis

DATABASE = {"host": "db", "port": 5432, "user": "shop owner", "dbname": "shop"}
PASSWORD = "only-for-the-shop"  # noqa: S105 - of a throw-away database
cache = redis.Redis(host="cache", port=6379, password=PASSWORD)


def refusal(password: str) -> str:
    try:
        psycopg.connect(**DATABASE, password=password).close()
    except psycopg.OperationalError as error:
        return "refused" if "password authentication failed" in str(error) else str(error)
    return "let in"


WRONG = refusal("only-for-others")


def app(environ, start_response):
    with psycopg.connect(**DATABASE, password=PASSWORD) as connection:
        articles = connection.execute("SELECT count(*) FROM articles").fetchone()[0]
    facts = {
        "articles": articles,
        "cached": cache.ping(),
        "other_login": WRONG,
        "label": socket.gethostbyname("database"),
        "runtime": os.path.dirname(sys.executable) == os.environ["PATH"].split(":")[0],
    }
    body = json.dumps(facts).encode()
    head = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", head)
    return [body]
