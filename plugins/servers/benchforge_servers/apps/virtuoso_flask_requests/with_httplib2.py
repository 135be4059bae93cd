"""The classes of study WS, asked with httplib2 over geventhttpclient: a client for each request.

Python itself is not patched, so httplib2 still opens sockets that all wait for.
"""

from http import HTTPStatus
from urllib.parse import urlencode

import geventhttpclient.httplib

geventhttpclient.httplib.patch()  # before httplib2, which is built upon what is patched

import httplib2  # noqa: E402
from classes import TIMEOUT, application  # noqa: E402


def ask(method, url, words):
    body = urlencode(words)
    headers = {}
    if method == "GET":
        url, body = f"{url}?{body}", None
    else:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    answer, content = httplib2.Http(timeout=TIMEOUT).request(url, method, body, headers)
    if answer.status != HTTPStatus.OK:
        raise RuntimeError(f"Virtuoso answers {answer.status}")
    return content


app = application(ask)
