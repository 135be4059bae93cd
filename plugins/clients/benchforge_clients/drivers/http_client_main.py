"""http.client: a connection of its own for each thread, kept or made anew for each request."""

import http.client
import socket

from protocol import Connections, Load, decoded, in_threads, path_of, plan, tls

told = plan(__doc__, ("reuse", "noreuse"))
connections = Connections().of(socket.socket)


def connected():
    host, port = told.parts.hostname, told.parts.port
    if told.parts.scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=told.timeout, context=context)
    return http.client.HTTPConnection(host, port, timeout=told.timeout)


def asking():
    connection = connected()
    path, keep = path_of(told), told.mode == "reuse"

    def ask(number):
        try:
            connection.request(told.method, path, told.payload, told.headers)
            response = connection.getresponse()
            body = response.read()
        except Exception:
            connection.close()  # it is opened again by the next request
            raise
        if not keep:
            connection.close()
        return response.status, decoded(told, body)

    return ask


context = tls(told)
load = Load(told, "http.client", "", connections)
load.run(in_threads(told, [asking() for _ in range(told.concurrency)]))
