"""A shop, served by FastAPI and asyncpg. All apps of the shop send the same queries."""

import hashlib
import json
import os
import secrets
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

import asyncpg
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel

# Under gunicorn nothing ends a request that waits for ever: an async worker stays alive.
TIMEOUT = 10
POOL_SIZE = int(os.environ.get("SHOP_POOL_SIZE", "10"))
PAGE = 20
COOKIE = "visit"


class Purchase(BaseModel):
    """What goes into a cart."""

    product: int
    quantity: int


@asynccontextmanager
async def open_pool(app):
    """Keep a pool while the worker runs; it connects as requests come."""
    async with asyncpg.create_pool(
        os.environ["DATABASE_URL"],
        min_size=0,
        max_size=POOL_SIZE,
        # Connections are kept for good and come back without a query, as psycopg's do.
        max_inactive_connection_lifetime=0,
        reset=nothing,
        timeout=TIMEOUT,
        command_timeout=TIMEOUT,
    ) as app.state.pool:
        yield


async def nothing(connection):
    pass


app = FastAPI(lifespan=open_pool)


@app.post("/login")
async def login(request: Request):
    form = {name: value for name, (value,) in parse_qs((await request.body()).decode()).items()}
    digest = hashlib.sha256(form["password"].encode()).hexdigest()
    query = "SELECT id FROM members WHERE name = $1 AND password_sha256 = $2"
    async with request.app.state.pool.acquire() as connection:
        member = await connection.fetchval(query, form["name"], digest)
        if member is None:
            return reply({"error": "wrong name or password"}, 401)
        token = secrets.token_hex(16)
        query = "INSERT INTO visits (token, member_id) VALUES ($1, $2)"
        await connection.execute(query, token, member)
    response = reply({"member": form["name"]})
    response.set_cookie(COOKIE, token, httponly=True)
    return response


@app.get("/products")
async def products(request: Request, page: int = 1):
    query = "SELECT id, name, price FROM products WHERE id > $1 ORDER BY id LIMIT $2"
    async with request.app.state.pool.acquire() as connection:
        rows = await connection.fetch(query, (page - 1) * PAGE, PAGE)
    return reply({"page": page, "products": [dict(row) for row in rows]})


@app.get("/products/{number}")
async def product(request: Request, number: int):
    query = "SELECT id, name, price, about FROM products WHERE id = $1"
    async with request.app.state.pool.acquire() as connection:
        row = await connection.fetchrow(query, number)
    return reply({"error": "no such product"}, 404) if row is None else reply(dict(row))


@app.get("/orders")
async def orders(request: Request):
    query = """
        SELECT id, product_id, quantity, total FROM orders
        WHERE member_id = $1 ORDER BY id DESC LIMIT 10
    """
    async with request.app.state.pool.acquire() as connection:
        member = await visitor(request, connection)
        if member is None:
            return reply({"error": "log in first"}, 401)
        rows = await connection.fetch(query, member["id"])
    return reply({"member": member["name"], "orders": [dict(row) for row in rows]})


@app.post("/carts")
async def add(request: Request, wanted: Purchase):
    number, quantity = wanted.product, wanted.quantity
    async with request.app.state.pool.acquire() as connection:
        member = await visitor(request, connection)
        if member is None:
            return reply({"error": "log in first"}, 401)
        price = await connection.fetchval("SELECT price FROM products WHERE id = $1", number)
        if price is None:
            return reply({"error": "no such product"}, 404)
        total = price * quantity
        query = """
            INSERT INTO carts (member_id, product_id, quantity, total)
            VALUES ($1, $2, $3, $4) RETURNING id
        """
        cart = await connection.fetchval(query, member["id"], number, quantity, total)
    return reply({"cart": cart, "product": number, "quantity": quantity, "total": total}, 201)


@app.post("/carts/{number}/pay")
async def pay(request: Request, number: int):
    async with request.app.state.pool.acquire() as connection:
        member = await visitor(request, connection)
        if member is None:
            return reply({"error": "log in first"}, 401)
        async with connection.transaction():
            query = """
                SELECT product_id AS product, quantity, total FROM carts
                WHERE id = $1 AND member_id = $2 FOR UPDATE
            """
            cart = await connection.fetchrow(query, number, member["id"])
            if cart is None:
                return reply({"error": "no such cart"}, 404)
            query = """
                INSERT INTO orders (member_id, product_id, quantity, total)
                VALUES ($1, $2, $3, $4) RETURNING id
            """
            order = await connection.fetchval(query, member["id"], *cart.values())
            await connection.execute("DELETE FROM carts WHERE id = $1", number)
    return reply({"cart": number, "order": order, **cart}, 201)


async def visitor(request, connection):
    """Return the member whose cookie came; None without one."""
    query = """
        SELECT members.id, members.name FROM visits
        INNER JOIN members ON visits.member_id = members.id WHERE visits.token = $1
    """
    return await connection.fetchrow(query, request.cookies.get(COOKIE, ""))


def reply(content, status=200):
    # As the other apps write it: FastAPI's own responses have no spaces between values.
    return Response(json.dumps(content), status, media_type="application/json")
