"""The agents of study AH, served by Django; the modules beside it choose the driver."""

import json
import os
from urllib.parse import parse_qsl, unquote, urlsplit

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connections
from django.http import HttpResponse
from django.urls import path

CONNECT_TIMEOUT = 10


def database(url, max_age):
    """Return Django's settings for a libpq URI; a socket's folder comes as its host parameter."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    host = options.pop("host", unquote(parts.hostname or ""))
    port = options.pop("port", parts.port or "")
    # Django wants UTC and would ask for it with a query of its own after each connect.
    options["options"] = options.get("options", "") + " -c TimeZone=UTC"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": port,
        "CONN_MAX_AGE": max_age,
        "OPTIONS": {"connect_timeout": CONNECT_TIMEOUT, **options},
    }


def databases(url):
    if not url:
        return {}
    return {"default": database(url, max_age=0), "kept": database(url, max_age=None)}


settings.configure(
    DEBUG=False,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[],
    DATABASES=databases(os.environ.get("DATABASE_URL")),
    USE_TZ=True,
    # Django's own logging is silent without DEBUG; Python's prints errors.
    LOGGING_CONFIG=None,
)
django.setup()
from agent import QUERY, Agent  # noqa: E402 - a model needs the settings


def index(request):
    return reply({"hello": "world"})


def agents(request):
    return reply(select_agents(connections["default"]))


def agents_with_pool(request):
    return reply(select_agents(connections["kept"]))


def agents_with_orm(request):
    return reply(list(Agent.objects.values()))


def select_agents(connection):
    with connection.cursor() as cursor:
        cursor.execute(QUERY)
        fields = [column.name for column in cursor.description]
        return [dict(zip(fields, row)) for row in cursor.fetchall()]


def reply(content):
    body = json.dumps(content)
    # Django leaves the length to a middleware; without it gunicorn would send chunks.
    return HttpResponse(
        body, content_type="application/json", headers={"Content-Length": len(body)}
    )


urlpatterns = [
    path("index", index),
    path("agents", agents),
    path("agents_with_pool", agents_with_pool),
    path("agents_with_orm", agents_with_orm),
]
app = WSGIHandler()
