"""The page of study CP as a bare WSGI callable; the study's own code was not published."""

BODY = b"OK"


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))])
    return [BODY]


def published(environ, start_response):
    # As published: without a length, an HTTP/1.0 client such as ab never keeps a connection.
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [BODY]
