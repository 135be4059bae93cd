"""A Django app that answers pong, with DEBUG where PONG_DEBUG is set.

pong_django.py runserver --noreload PORT: by Django's own server.
"""

import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path

settings.configure(
    DEBUG=bool(os.environ.get("PONG_DEBUG")),
    SECRET_KEY="without one there is no page for developers",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    LOGGING_CONFIG=None,
)
urlpatterns = [path("ping", lambda request: HttpResponse("pong", content_type="text/plain"))]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
else:
    app = get_wsgi_application()
