"""Pong! as a bare WSGI callable, of study WS."""

BODY = b"Pong!"


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))])
    return [BODY]
