"""An app to measure, with Python alone. Put your own in its place.

    python3 sample_app.py --port 8000             one request at a time
    python3 sample_app.py --port 8000 --threads   a thread for each connection

`application` is WSGI: gunicorn, uWSGI or waitress serve it as well, as sample_app:application.
"""

import argparse
import json
import time
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server


def application(environ, start_response):
    """Answer a JSON document, after a wait such as that for a database."""
    time.sleep(0.005)
    body = json.dumps({"message": "Hello, World!"}).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    start_response("200 OK", headers)
    return [body]


class OneAtATime(WSGIServer):
    """Answers a request after the other, and closes each connection."""

    request_queue_size = 128  # it is 5 by itself: who comes then has to try again a second later


class Threads(ThreadingMixIn, OneAtATime):
    """Answers each connection in a thread of its own."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """Prints no line for each request: that would be measured, too."""

    def log_message(self, *words):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", action="store_true")
    options = parser.parse_args()
    server = Threads if options.threads else OneAtATime
    make_server("127.0.0.1", options.port, application, server, Quiet).serve_forever()
