"""geventhttpclient: one client with as many connections as greenlets."""

from protocol import Connections, Load, decoded, importing, in_greenlets, path_of, plan, tls

with importing():
    import gevent
    import gevent.socket
    import gevent.ssl
    import geventhttpclient

told = plan(__doc__)
connections = Connections().of(gevent.socket.socket)
path = path_of(told)


def trusted(**_):
    return tls(told, gevent.ssl.create_default_context)


client = geventhttpclient.HTTPClient(
    told.parts.hostname,
    told.parts.port,
    concurrency=told.concurrency,
    connection_timeout=told.timeout,
    network_timeout=told.timeout,
    ssl=told.parts.scheme == "https",
    insecure=not told.verify,
    ssl_context_factory=trusted,
)


def ask(number):
    response = client.request(told.method, path, told.payload or b"", told.headers)
    body = response.read()
    return response.status_code, decoded(told, body)


load = Load(told, "geventhttpclient", geventhttpclient.__version__, connections)
load.run(in_greenlets(gevent, [ask] * told.concurrency))
