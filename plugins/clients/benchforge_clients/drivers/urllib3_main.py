"""urllib3: a pool of its own for each thread."""

import socket
import warnings

from protocol import Connections, Load, decoded, importing, in_threads, path_of, plan

with importing():
    import urllib3

told = plan(__doc__)
connections = Connections().of(socket.socket)


def pooled():
    """Return the pool's function and what it calls the address: as study PC, by the scheme."""
    if told.parts.scheme == "http":
        return urllib3.PoolManager(timeout=told.timeout).urlopen, told.url
    trust = (
        {"cert_reqs": "CERT_REQUIRED", "ca_certs": told.ca_file}
        if told.verify
        else {"cert_reqs": "CERT_NONE", "assert_hostname": False}
    )
    host, port = told.parts.hostname, told.parts.port
    pool = urllib3.HTTPSConnectionPool(host, port, timeout=told.timeout, **trust)
    return pool.urlopen, path_of(told)


def asking():
    urlopen, address = pooled()

    def ask(number):
        response = urlopen(
            told.method, address, body=told.payload, headers=told.headers or None, retries=False
        )
        response.read()  # as study PC: the body is there already, and this gives nothing
        return response.status, decoded(told, response.data)

    return ask


warnings.simplefilter("ignore", urllib3.exceptions.InsecureRequestWarning)
load = Load(told, "urllib3", urllib3.__version__, connections)
load.run(in_threads(told, [asking() for _ in range(told.concurrency)]))
