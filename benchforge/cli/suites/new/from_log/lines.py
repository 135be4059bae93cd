"""The lines of an access log: combined or common format, or JSON lines of nginx and Caddy."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Any, NamedTuple

from benchforge.errors import Unusable
from benchforge.text import safe

MOST_BYTES = 2 << 30
_LONGEST = 16_384  # bytes of a line: what follows is a line of its own
_LINE = re.compile(
    r"(?P<client>\S{1,200}) \S{1,200} .{0,200}?\[(?P<minute>[^\]]{17})[^\]]{0,20}\] "
    r'"(?P<request>[^"]{1,4100})" (?P<status>\d{3}) '
)
_REQUEST = re.compile(r"(?P<method>[A-Z]{3,10}) (?P<target>/[!-~]{0,4000})(?: HTTP/[\d.]{1,3})?")
_STATUS = re.compile("[1-9][0-9]{2}")
_WITH_PORT = re.compile(r"\[(.*)\](?::\d+)?|([^:]+):\d+")


class LogLine(NamedTuple):
    """A request that was logged."""

    client: str
    "Its address; of IPv6, the network of 64 bits, since one client has many addresses of it."
    minute: str
    "Empty if the log has no time."
    method: str
    path: str
    query: str
    status: int


def log_lines(log: Path) -> Iterator[LogLine | None]:
    """Yield each request; None for a line that is none. Raises Unusable for an unreadable file."""
    name = safe.word(str(log))
    try:
        if log.exists() and not log.is_file():
            raise Unusable(f"{name}: is not a file", "benchforge reads a log twice: give a file")
        with gzip.open(log) if log.suffix == ".gz" else log.open("rb") as file:
            rest = MOST_BYTES
            while rest > 0 and (line := file.readline(_LONGEST)):
                rest -= len(line)
                yield _json_line(line) if line.startswith(b"{") else _line(line)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = safe.word(getattr(error, "strerror", None) or str(error))
        raise Unusable(f"{name}: {reason}", "give the path of an access log") from error


def _line(line: bytes) -> LogLine | None:
    match = _LINE.match(line.decode("ascii", "replace"))
    return match and _logged(match["client"], match["minute"], match["request"], match["status"])


def _json_line(line: bytes) -> LogLine | None:
    """Return the request of a line with the fields of Caddy, or with variables of nginx."""
    try:
        fields: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        return None
    request = fields.get("request", "")
    if isinstance(request, dict):
        fields |= request

    def first(*names: str) -> str:
        return next((str(fields[name]) for name in names if fields.get(name)), "")

    target = first("request_uri") or "?".join(filter(None, (first("uri"), first("args"))))
    if not isinstance(request, str) or not request:
        request = f"{first('method', 'request_method')} {target}"
    logged_at = first("time_local", "time_iso8601", "ts", "msec", "time")
    if re.match(r"\d{10}", logged_at):  # of s, ms and ns since 1970: the first are those of s
        logged_at = str(int(logged_at[:10]) // 60)
    client = first("client_ip", "remote_ip", "remote_addr")
    return _logged(client, logged_at[:17], request, first("status"))


def _logged(client: str, minute: str, request: str, status: str) -> LogLine | None:
    match = _REQUEST.fullmatch(request)
    if match is None or _STATUS.fullmatch(status) is None:
        return None
    path, _, query = match["target"].partition("?")
    client = _sender(client) if ":" in client else client
    return LogLine(client, minute, match["method"], path, query, int(status))


@lru_cache(maxsize=10_000)
def _sender(client: str) -> str:
    client = _WITH_PORT.sub(r"\1\2", client) if _WITH_PORT.fullmatch(client) else client
    try:
        address = ip_address(client)
    except ValueError:
        return client
    if not isinstance(address, IPv6Address):
        return client
    return str(address.ipv4_mapped or address.exploded[:19])
