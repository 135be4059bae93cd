"""Serve what Tornado serves: a plain program, which runs where benchforge is not installed."""

import argparse
import asyncio
import contextlib
import logging
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchforge_socket import END_OF_HEAD, HEAD_BYTES
from benchforge_target import arguments, target
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerConnectionDelegate
from tornado.iostream import IOStream, StreamClosedError, UnsatisfiableReadError
from tornado.netutil import bind_sockets
from tornado.process import fork_processes
from tornado.tcpserver import TCPServer
from tornado.wsgi import WSGIContainer


class SocketServer(TCPServer):
    """Sends an app's answer to each connection, and closes it."""

    def __init__(self, app: Any) -> None:
        super().__init__()
        self.app = app

    async def handle_stream(self, stream: IOStream, address: Any) -> None:
        """Answer the head of a request, or the connection itself if the app reads none."""
        with contextlib.suppress(StreamClosedError, UnsatisfiableReadError, ConnectionError):
            if self.app.reads:
                await stream.read_until(END_OF_HEAD, max_bytes=HEAD_BYTES)
            await stream.write(self.app.answer())
            stream.socket.shutdown(socket.SHUT_WR)
        stream.close()


def main() -> None:
    """Bind, then fork if that is wished, then import the app: a loop survives no fork."""
    options = arguments(__doc__, processes=int, keep_alive=bool, threads=int)
    logging.getLogger("tornado.access").disabled = True
    sockets = bind_sockets(options.port, options.host, socket.AF_INET, options.backlog)
    if options.processes > 1:
        fork_processes(options.processes, max_restarts=0)
    asyncio.run(serve(sockets, options))


async def serve(sockets: Any, options: argparse.Namespace) -> None:
    """Serve for ever."""
    server_of(target(options), options).add_sockets(sockets)
    await asyncio.Event().wait()


def server_of(app: Any, options: argparse.Namespace) -> TCPServer:
    """Return the server for a Tornado application, a socket app or a WSGI app."""
    if isinstance(app, HTTPServerConnectionDelegate):
        return HTTPServer(app, no_keep_alive=not options.keep_alive)
    if hasattr(app, "answer"):
        return SocketServer(app)
    executor = ThreadPoolExecutor(options.threads) if options.threads else None
    return HTTPServer(WSGIContainer(app, executor), no_keep_alive=not options.keep_alive)


if __name__ == "__main__":
    main()
