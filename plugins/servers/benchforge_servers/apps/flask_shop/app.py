"""A shop, served by Flask and psycopg 3. All apps of the shop send the same queries."""

import hashlib
import json
import os
import secrets
from functools import cache
from threading import Lock

from flask import Flask, Response, request
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

CONNECT_TIMEOUT = 10
FOR_GOOD = 365 * 86_400.0  # the pool's clock takes no infinity
POOL_SIZE = int(os.environ.get("SHOP_POOL_SIZE", "10"))
# Without autocommit psycopg sends a BEGIN and a COMMIT, which Django and asyncpg do not.
CONNECTING = {"connect_timeout": CONNECT_TIMEOUT, "autocommit": True, "row_factory": dict_row}
PAGE = 20
COOKIE = "visit"

app = Flask(__name__, static_folder=None)
opening = Lock()  # the first requests come at once, and each would open a pool


@app.post("/login")
def login():
    digest = hashlib.sha256(request.form["password"].encode()).hexdigest()
    query = "SELECT id FROM members WHERE name = %s AND password_sha256 = %s"
    with connected() as connection:
        member = connection.execute(query, (request.form["name"], digest)).fetchone()
        if member is None:
            return reply({"error": "wrong name or password"}, 401)
        token = secrets.token_hex(16)
        query = "INSERT INTO visits (token, member_id) VALUES (%s, %s)"
        connection.execute(query, (token, member["id"]))
    response = reply({"member": request.form["name"]})
    response.set_cookie(COOKIE, token, httponly=True)
    return response


@app.get("/products")
def products():
    page = request.args.get("page", 1, int)
    query = "SELECT id, name, price FROM products WHERE id > %s ORDER BY id LIMIT %s"
    with connected() as connection:
        rows = connection.execute(query, ((page - 1) * PAGE, PAGE)).fetchall()
    return reply({"page": page, "products": rows})


@app.get("/products/<int:number>")
def product(number):
    query = "SELECT id, name, price, about FROM products WHERE id = %s"
    with connected() as connection:
        row = connection.execute(query, (number,)).fetchone()
    return reply({"error": "no such product"}, 404) if row is None else reply(row)


@app.get("/orders")
def orders():
    query = """
        SELECT id, product_id, quantity, total FROM orders
        WHERE member_id = %s ORDER BY id DESC LIMIT 10
    """
    with connected() as connection:
        member = visitor(connection)
        if member is None:
            return reply({"error": "log in first"}, 401)
        rows = connection.execute(query, (member["id"],)).fetchall()
    return reply({"member": member["name"], "orders": rows})


@app.post("/carts")
def add():
    wanted = request.get_json()
    number, quantity = wanted["product"], wanted["quantity"]
    with connected() as connection:
        member = visitor(connection)
        if member is None:
            return reply({"error": "log in first"}, 401)
        query = "SELECT price FROM products WHERE id = %s"
        row = connection.execute(query, (number,)).fetchone()
        if row is None:
            return reply({"error": "no such product"}, 404)
        total = row["price"] * quantity
        query = """
            INSERT INTO carts (member_id, product_id, quantity, total)
            VALUES (%s, %s, %s, %s) RETURNING id
        """
        values = member["id"], number, quantity, total
        cart = connection.execute(query, values).fetchone()["id"]
    return reply({"cart": cart, "product": number, "quantity": quantity, "total": total}, 201)


@app.post("/carts/<int:number>/pay")
def pay(number):
    with connected() as connection:
        member = visitor(connection)
        if member is None:
            return reply({"error": "log in first"}, 401)
        with connection.transaction():
            query = """
                SELECT product_id AS product, quantity, total FROM carts
                WHERE id = %s AND member_id = %s FOR UPDATE
            """
            cart = connection.execute(query, (number, member["id"])).fetchone()
            if cart is None:
                return reply({"error": "no such cart"}, 404)
            query = """
                INSERT INTO orders (member_id, product_id, quantity, total)
                VALUES (%s, %s, %s, %s) RETURNING id
            """
            order = connection.execute(query, (member["id"], *cart.values())).fetchone()["id"]
            connection.execute("DELETE FROM carts WHERE id = %s", (number,))
    return reply({"cart": number, "order": order, **cart}, 201)


def visitor(connection):
    """Return the member whose cookie came; None without one."""
    query = """
        SELECT members.id, members.name FROM visits
        INNER JOIN members ON visits.member_id = members.id WHERE visits.token = %s
    """
    return connection.execute(query, (request.cookies.get(COOKIE, ""),)).fetchone()


def connected():
    with opening:
        return open_pool().connection()


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


def reply(content, status=200):
    return Response(json.dumps(content), status, mimetype="application/json")
