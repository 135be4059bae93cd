"""Serve a WSGI or a socket app with gevent: a plain program, which runs without benchforge."""

import argparse
import functools
from typing import Any

import gevent.socket
from benchforge_socket import answer
from benchforge_target import arguments, target
from gevent import monkey
from gevent.pywsgi import WSGIHandler, WSGIServer
from gevent.server import StreamServer


class Closing(WSGIHandler):
    """Closes each connection after its first answer, and says so."""

    def read_request(self, *words: Any) -> Any:
        """Read a request, as if it had asked for the end."""
        complete = super().read_request(*words)
        self.close_connection = True
        return complete

    def finalize_headers(self) -> None:
        """Say it to HTTP/1.1 too: by itself pywsgi says it to HTTP/1.0 alone."""
        names = {name.lower() for name, _ in self.response_headers}
        if b"connection" not in names:
            self.response_headers.append((b"Connection", b"close"))
        super().finalize_headers()


def main() -> None:
    """Patch if that is wished, import the app and serve it in this thread."""
    options = arguments(__doc__, monkey_patch=bool, keep_alive=bool, tcp_nodelay=bool)
    if options.monkey_patch:
        monkey.patch_all()
    app = target(options)
    if hasattr(app, "answer"):
        StreamServer(listening(options), functools.partial(served, app)).serve_forever()
    else:
        handler = WSGIHandler if options.keep_alive else Closing
        WSGIServer(listening(options), app, log=None, handler_class=handler).serve_forever()


def listening(options: argparse.Namespace) -> Any:
    """Return a socket that listens; what it accepts has its options, TCP_NODELAY among them."""
    listener = gevent.socket.socket()
    listener.setsockopt(gevent.socket.SOL_SOCKET, gevent.socket.SO_REUSEADDR, 1)
    nodelay = gevent.socket.TCP_NODELAY
    listener.setsockopt(gevent.socket.IPPROTO_TCP, nodelay, options.tcp_nodelay)
    listener.bind((options.host, options.port))
    listener.listen(options.backlog)
    return listener


def served(app: Any, connection: Any, address: Any) -> None:
    """Answer one connection."""
    answer(connection, app)


if __name__ == "__main__":
    main()
