"""httplib2: on the standard library in threads, or on geventhttpclient's httplib in greenlets."""

import socket

from protocol import Connections, Load, decoded, importing, in_greenlets, in_threads, plan

told = plan(__doc__, ("reuse", "noreuse", "gevent"))
with_gevent = told.mode == "gevent"
connections = Connections()
with importing():
    if with_gevent:
        import gevent
        import gevent.socket
        import geventhttpclient.httplib

        geventhttpclient.httplib.patch()
        connections.of(gevent.socket.socket)
    import httplib2

connections.of(socket.socket)  # with gevent too: httplib2 connects by itself
httplib2.RETRIES = 1  # what fails is to be seen


def opened():
    http = httplib2.Http(
        timeout=told.timeout,
        ca_certs=told.ca_file,
        disable_ssl_certificate_validation=not told.verify,
    )
    http.follow_redirects = False
    return http


def asking():
    kept = opened() if told.mode == "reuse" else None

    def ask(number):
        http = kept or opened()
        response, body = http.request(told.url, told.method, told.payload, told.headers or None)
        if kept is None:
            http.close()
        return response.status, decoded(told, body)

    return ask


load = Load(told, "httplib2", httplib2.__version__, connections)
every = [asking() for _ in range(told.concurrency)]
load.run(in_greenlets(gevent, every) if with_gevent else in_threads(told, every))
