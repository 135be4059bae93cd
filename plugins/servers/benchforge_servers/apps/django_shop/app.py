"""A shop, served by Django with its models. The apps of the shop send the same queries."""

import hashlib
import json
import os
import secrets

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import models, transaction
from django.http import HttpResponse
from django.urls import path
from psycopg.conninfo import conninfo_to_dict

CONNECT_TIMEOUT = 10
PAGE = 20
COOKIE = "visit"


def database(url):
    """Return Django's settings for a libpq URI. Each thread keeps its connection."""
    options = conninfo_to_dict(url, connect_timeout=CONNECT_TIMEOUT)
    # Django wants UTC and would ask for it with a query of its own after each connect.
    options["options"] = "-c TimeZone=UTC"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": options.pop("dbname", ""),
        "USER": options.pop("user", ""),
        "PASSWORD": options.pop("password", ""),
        "HOST": options.pop("host", ""),
        "PORT": options.pop("port", ""),
        "CONN_MAX_AGE": None,
        "OPTIONS": options,
    }


settings.configure(
    DEBUG=False,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[],
    DATABASES={"default": database(os.environ["DATABASE_URL"])},
    USE_TZ=True,
    # Django's own logging is silent without DEBUG; Python's prints errors.
    LOGGING_CONFIG=None,
)
django.setup()


class Table(models.Model):
    """A table of the shop, which the dataset makes."""

    class Meta:
        app_label = "shop"
        abstract = True
        managed = False


class Product(Table):
    """What the shop sells."""

    id = models.IntegerField(primary_key=True)
    name = models.TextField()
    price = models.IntegerField()
    about = models.TextField()

    class Meta(Table.Meta):
        db_table = "products"


class Member(Table):
    """Who may buy."""

    id = models.IntegerField(primary_key=True)
    name = models.TextField(unique=True)
    password_sha256 = models.TextField()

    class Meta(Table.Meta):
        db_table = "members"


class Visit(Table):
    """Who is logged in."""

    token = models.TextField(primary_key=True)
    member = models.ForeignKey(Member, models.DO_NOTHING)

    class Meta(Table.Meta):
        db_table = "visits"


class Purchase(Table):
    """Some of a product, for a member."""

    member = models.ForeignKey(Member, models.DO_NOTHING)
    product = models.ForeignKey(Product, models.DO_NOTHING)
    quantity = models.IntegerField()
    total = models.IntegerField()
    id = models.AutoField(primary_key=True)

    class Meta(Table.Meta):
        abstract = True


class Cart(Purchase):
    """What is about to be bought."""

    class Meta(Table.Meta):
        db_table = "carts"


class Order(Purchase):
    """What was bought."""

    class Meta(Table.Meta):
        db_table = "orders"


def login(request):
    digest = hashlib.sha256(request.POST["password"].encode()).hexdigest()
    of_name = Member.objects.filter(name=request.POST["name"], password_sha256=digest)
    member = of_name.values_list("id", flat=True).first()
    if member is None:
        return reply({"error": "wrong name or password"}, 401)
    visit = Visit(token=secrets.token_hex(16), member_id=member)
    visit.save(force_insert=True)
    response = reply({"member": request.POST["name"]})
    response.set_cookie(COOKIE, visit.token, httponly=True)
    return response


def products(request):
    page = int(request.GET.get("page", 1))
    rows = Product.objects.filter(id__gt=(page - 1) * PAGE).order_by("id")
    return reply({"page": page, "products": list(rows.values("id", "name", "price")[:PAGE])})


def product(request, number):
    row = Product.objects.filter(id=number).values("id", "name", "price", "about").first()
    return reply({"error": "no such product"}, 404) if row is None else reply(row)


def orders(request):
    member = visitor(request)
    if member is None:
        return reply({"error": "log in first"}, 401)
    rows = Order.objects.filter(member_id=member.id).order_by("-id")
    shown = list(rows.values("id", "product_id", "quantity", "total")[:10])
    return reply({"member": member.name, "orders": shown})


def add(request):
    member = visitor(request)
    if member is None:
        return reply({"error": "log in first"}, 401)
    wanted = json.loads(request.body)
    number, quantity = wanted["product"], wanted["quantity"]
    price = Product.objects.filter(id=number).values_list("price", flat=True).first()
    if price is None:
        return reply({"error": "no such product"}, 404)
    cart = Cart(member_id=member.id, product_id=number, quantity=quantity, total=price * quantity)
    cart.save(force_insert=True)
    made = {"cart": cart.id, "product": number, "quantity": quantity, "total": cart.total}
    return reply(made, 201)


def pay(request, number):
    member = visitor(request)
    if member is None:
        return reply({"error": "log in first"}, 401)
    with transaction.atomic():
        of_member = Cart.objects.select_for_update().filter(id=number, member_id=member.id)
        cart = of_member.values("product_id", "quantity", "total").first()
        if cart is None:
            return reply({"error": "no such cart"}, 404)
        order = Order(member_id=member.id, **cart)
        order.save(force_insert=True)
        Cart.objects.filter(id=number).delete()
    made = {"cart": number, "order": order.id, "product": order.product_id}
    return reply({**made, "quantity": order.quantity, "total": order.total}, 201)


def visitor(request):
    """Return the member whose cookie came; None without one."""
    visits = Visit.objects.filter(token=request.COOKIES.get(COOKIE, "")).select_related("member")
    visit = visits.only("token", "member__id", "member__name").first()
    return visit and visit.member


def reply(content, status=200):
    body = json.dumps(content)
    # Django leaves the length to a middleware; without it gunicorn would send chunks.
    headers = {"Content-Length": len(body)}
    return HttpResponse(body, status=status, content_type="application/json", headers=headers)


urlpatterns = [
    path("login", login),
    path("products", products),
    path("products/<int:number>", product),
    path("orders", orders),
    path("carts", add),
    path("carts/<int:number>/pay", pay),
]
app = WSGIHandler()
