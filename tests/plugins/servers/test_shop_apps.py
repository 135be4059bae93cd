"""The apps of the shop do the same work: the same answers, by the same number of queries."""

import http.client
import json
import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from serving.apps import serving
from serving.postgres import DATASET, Postgres

SHOP = DATASET.with_name("shop")
APPS = ("flask_shop", "django_shop", "fastapi_shop")
# Not the first queries of a connection, which ask for its settings and types.
_QUERY = re.compile(
    r"(?:statement|execute [^:]+):\s+(SELECT|INSERT|DELETE|BEGIN|COMMIT)(?! pg_| version\(\))"
)
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def filled(postgres: Postgres) -> dict[str, str]:
    """Return the URL of a shop for each app."""
    first, *others = APPS
    postgres.run("createdb", first)
    for file in ("schema.sql", "data.sql"):
        postgres.run("psql", "-qX", "-v", "ON_ERROR_STOP=1", "-f", str(SHOP / file), first)
    for name in others:
        postgres.run("createdb", "--template", first, name)
    return {name: postgres.unix.replace("/benchmarks?", f"/{name}?") for name in APPS}


class Answer(NamedTuple):
    status: int
    told: dict[str, Any]
    length: int
    queries: list[str]


class Visitor:
    """Who asks an app, and what it was answered, with the queries that each answer took."""

    def __init__(self, port: int, log: Path) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=200)
        self.log, self.cookie = log, ""
        self.answers: list[Answer] = []

    def asks(
        self, method: str, path: str, body: str | None = None, headers: Mapping[str, str] = JSON
    ) -> None:
        start = self.log.stat().st_size
        self.connection.request(method, path, body, {"Cookie": self.cookie, **headers})
        response = self.connection.getresponse()
        content = response.read()
        self.cookie = (response.getheader("Set-Cookie") or self.cookie).partition(";")[0]
        queries = _QUERY.findall(self.log.read_bytes()[start:].decode())
        document = json.loads(content)
        assert response.getheader("Content-Type") == "application/json"
        assert response.getheader("Content-Length") == str(len(content))
        self.answers.append(Answer(response.status, document, len(content), queries))

    def logs_in(self, name: str, password: str) -> None:
        self.asks("POST", "/login", urlencode({"name": name, "password": password}), FORM)


def asked(visitor: Visitor) -> None:
    """Ask for all that the shop has, with a login and without."""
    # cheroot has ten threads: a connection, and so a thread, is kept from here on.
    visitor.asks("GET", "/products/1")
    visitor.answers.clear()
    for path in ("/products?page=250", "/products/17", "/products/5001", "/orders"):
        visitor.asks("GET", path)
    visitor.logs_in("member7", "secret-8")
    visitor.logs_in("member7", "secret-7")
    visitor.asks("POST", "/carts", '{"product": 17, "quantity": 3}')
    cart = visitor.answers[-1].told["cart"]
    visitor.asks("POST", "/carts", '{"product": 0, "quantity": 3}')
    visitor.asks("POST", f"/carts/{cart}/pay")
    visitor.asks("POST", f"/carts/{cart}/pay")  # once only
    visitor.asks("GET", "/orders")
    visitor.logs_in("member8", "secret-8")
    visitor.asks("POST", "/carts", '{"product": 17, "quantity": 1}')
    visitor.logs_in("member7", "secret-7")
    visitor.asks("POST", f"/carts/{visitor.answers[-2].told['cart']}/pay")  # of another member


def test_shop_apps_answer_alike(postgres: Postgres, filled: dict[str, str], tmp_path: Path) -> None:
    answers = {}
    for name, url in filled.items():
        with serving(name, tmp_path / name, {"DATABASE_URL": url, "SHOP_POOL_SIZE": "1"}) as port:
            visitor = Visitor(port, postgres.log)
            with closing(visitor.connection):
                asked(visitor)
            answers[name] = visitor.answers
    flask, django, fastapi = answers.values()
    statuses = [200, 200, 404, 401, 401, 200, 201, 404, 201, 404, 200, 200, 201, 200, 404]
    assert [item.status for item in flask] == statuses
    cart, paid, orders = (flask[number].told for number in (6, 8, 10))
    assert paid == {"order": 1, **cart}
    order = {"id": 1, "product_id": 17, "quantity": 3, "total": cart["total"]}
    assert orders == {"member": "member7", "orders": [order]}
    assert flask[8].queries == ["SELECT", "BEGIN", "SELECT", "INSERT", "DELETE", "COMMIT"]
    assert flask[9].queries == ["SELECT", "BEGIN", "SELECT", "COMMIT"]
    assert [len(item.queries) for item in flask] == [1, 1, 1, 1, 1, 2, 3, 2, 6, 4, 2, 2, 3, 2, 4]
    assert django == flask
    assert fastapi == flask
