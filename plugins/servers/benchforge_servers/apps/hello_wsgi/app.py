"""Hello World! as a bare WSGI callable, of study WS."""

BODY = b"Hello World!"


def app(environ, start_response):
    if environ["PATH_INFO"] != "/":
        return reply(start_response, "404 Not Found", b"")
    if environ["REQUEST_METHOD"] != "GET":
        return reply(start_response, "405 Method Not Allowed", b"")
    return reply(start_response, "200 OK", BODY)


def reply(start_response, status, body):
    start_response(status, [("Content-Type", "text/html"), ("Content-Length", str(len(body)))])
    return [body]


def published(environ, start_response):
    # As published, there is no length (the study's server counted a lone body itself), and
    # nothing at all is returned for any other request.
    if environ["PATH_INFO"] == "/" and environ["REQUEST_METHOD"] == "GET":
        start_response("200 OK", [("Content-Type", "text/html")])
        return [BODY]
    return None
