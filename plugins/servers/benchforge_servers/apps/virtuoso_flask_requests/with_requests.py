"""The classes of study WS, asked with requests: a session and a connection for each request.

Under gevent it waits for Virtuoso alone if Python is monkey-patched, else all wait with it.
"""

import requests
from classes import TIMEOUT, application


def ask(method, url, words):
    where = {"params": words} if method == "GET" else {"data": words}
    answer = requests.request(method, url, timeout=TIMEOUT, **where)
    answer.raise_for_status()
    return answer.content


app = application(ask)
