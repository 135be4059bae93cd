"""The agents of study AH as published with Django: DEBUG is on, and five middlewares.

Which five is not certain; these are those of a new project but the one against forged requests.
"""

import json
import os
import secrets
import sys
from urllib.parse import parse_qsl, unquote, urlsplit

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connections
from django.http import HttpResponse
from django.urls import path
from psycopg2.extras import RealDictCursor

# Django takes psycopg 3 wherever it is installed, and psycopg2 only where it is not.
sys.modules["psycopg"] = None

CONNECT_TIMEOUT = 10


def databases(url):
    """Return Django's settings for a libpq URI: as published, two aliases of one database."""
    if not url:
        return {}
    parts = urlsplit(url)
    options = {"connect_timeout": CONNECT_TIMEOUT, **dict(parse_qsl(parts.query))}
    database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        # A socket's folder comes as its host parameter.
        "HOST": options.pop("host", unquote(parts.hostname or "")),
        "PORT": options.pop("port", parts.port or ""),
    }
    by_name = {**options, "cursor_factory": RealDictCursor}
    return {
        "default": {**database, "OPTIONS": options},
        "by_name": {**database, "OPTIONS": by_name},
    }


settings.configure(
    DEBUG=True,
    SECRET_KEY=secrets.token_hex(),  # nothing that is signed outlives the process
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    X_FRAME_OPTIONS="SAMEORIGIN",
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "django.contrib.messages",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    DATABASES=databases(os.environ.get("DATABASE_URL")),
)
django.setup()
from agent import QUERY, Agent  # noqa: E402 - a model needs the settings


def index(request):
    return reply({"hello": "world"})


def agents(request):
    with connections["by_name"].cursor() as cursor:
        cursor.execute(QUERY)
        return reply(cursor.fetchall())


def agents_with_orm(request):
    return reply(list(Agent.objects.values()))


def reply(content):
    return HttpResponse(json.dumps(content), content_type="application/json")


urlpatterns = [
    path("index", index),
    path("agents", agents),
    path("agents_with_orm", agents_with_orm),
]
app = WSGIHandler()
