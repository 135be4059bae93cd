"""Connecting to a server from inside the trial's network, over TLS or not."""

import contextlib
import functools
import http.client
import socket
import ssl
import time
from pathlib import Path
from urllib.parse import urlsplit

from benchforge.errors import BenchforgeError
from benchforge.run.http.bounded import BoundedSocket, BoundedTLS
from benchforge.run.sandbox.sandbox import Sandbox

ANSWER_WITHIN_S = 10.0
LARGEST_ANSWER = 72 << 20  # on the wire, with whatever stands around the body
TRUST = 'name the PEM file to trust in the table of the server: ca_file = "certificate.pem"'
_LOOPBACK = ("127.0.0.1", "::1")
_AGREED_WITHIN_S = 1.0


def reachable(root: str) -> str:
    """Return a root with [::1] for localhost where that address alone takes connections.

    Load tools may take 127.0.0.1 alone for localhost.
    """
    host, port = address(root)
    if host != "localhost":
        return root
    taken = [address for address in _LOOPBACK if _accepts(address, port)]
    return f"{urlsplit(root).scheme}://[::1]:{port}" if taken == ["::1"] else root


def _accepts(address: str, port: int) -> bool:
    try:
        socket.create_connection((address, port), _AGREED_WITHIN_S).close()
    except OSError:
        return False
    return True


def address(root: str) -> tuple[str, int]:
    """Return host and port of a root."""
    parts = urlsplit(root)
    usual = http.client.HTTPS_PORT if parts.scheme == "https" else http.client.HTTP_PORT
    return parts.hostname or "127.0.0.1", parts.port or usual


def connected(
    sandbox: Sandbox, root: str, ca_file: Path | None, protocols: tuple[str, ...] = ()
) -> BoundedSocket:
    """Return a connection for one answer; the time to connect is part of the answer's time.

    Over https the certificate and its name are checked, by `ca_file` or the system's own.
    `protocols` are offered by ALPN.
    """
    trusting = _trusting(ca_file, protocols) if urlsplit(root).scheme == "https" else None
    deadline = time.monotonic() + ANSWER_WITHIN_S
    inside = _connected(sandbox, *address(root))
    if trusting is None:
        return BoundedSocket(inside, deadline, LARGEST_ANSWER)
    connection = BoundedTLS(inside, deadline, LARGEST_ANSWER, trusting, address(root)[0])
    try:
        connection.agree()
    except BaseException:
        connection.close()
        raise
    return connection


def speaks_tls(sandbox: Sandbox, root: str) -> bool:
    """Return True if a server at a root without TLS agrees on TLS, whatever its certificate."""
    if urlsplit(root).scheme == "https":
        return False
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    deadline, host = time.monotonic() + _AGREED_WITHIN_S, address(root)[0]
    with contextlib.suppress(OSError, http.client.HTTPException):
        inside = _connected(sandbox, *address(root))
        with BoundedTLS(inside, deadline, LARGEST_ANSWER, anybody, host) as connection:
            connection.agree()
            return True
    return False


def _connected(sandbox: Sandbox, host: str, port: int) -> socket.socket:
    hosts = _LOOPBACK if host == "localhost" else (host,)
    refused: OSError | None = None
    for numeric in hosts:
        inside = sandbox.socket(socket.AF_INET6 if ":" in numeric else socket.AF_INET)
        try:
            inside.settimeout(ANSWER_WITHIN_S / len(hosts))
            inside.connect((numeric, port))
        except OSError as error:
            inside.close()
            refused = error
        else:
            return inside
    raise refused or OSError("no address")


@functools.lru_cache(maxsize=8)
def _trusting(ca_file: Path | None, protocols: tuple[str, ...]) -> ssl.SSLContext:
    """Return what checks certificates, read once. Raises BenchforgeError when the file has none."""
    try:
        trusting = ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        problem = "no certificate in PEM" if isinstance(error, ssl.SSLError) else error.strerror
        raise BenchforgeError(f"{ca_file}: {problem}", TRUST) from error
    if protocols:
        trusting.set_alpn_protocols(protocols)
    return trusting
