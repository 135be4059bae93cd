"""The lines of an access log: the combined or common format of Apache, nginx and gunicorn."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchforge.errors import Unusable

MOST_BYTES = 256 << 20
_LONGEST = 16_384  # bytes of a line: what follows is skipped
_LINE = re.compile(
    r"(?P<client>\S{1,200}) \S{1,200} .{0,200}?\[(?P<minute>[^\]]{17})[^\]]{0,20}\] "
    r'"(?P<method>[A-Z]{3,10}) (?P<target>/[!-~]{0,4000}) HTTP/[\d.]{1,3}" (?P<status>\d{3}) '
)


class LogLine(NamedTuple):
    """A request that was logged."""

    client: str
    minute: str
    method: str
    path: str
    query: str
    status: int


def log_lines(log: Path) -> Iterator[LogLine | None]:
    """Yield each request; None for a line that is none. Raises Unusable for an unreadable file."""
    try:
        with gzip.open(log) if log.suffix == ".gz" else log.open("rb") as file:
            rest = MOST_BYTES
            while rest > 0 and (line := file.readline(_LONGEST)):
                rest -= len(line)
                yield _line(line)
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or error
        raise Unusable(f"{log}: {why}", "give the path of an access log") from error


def _line(line: bytes) -> LogLine | None:
    match = _LINE.match(line.decode("ascii", "replace"))
    if match is None:
        return None
    path, _, query = match["target"].partition("?")
    status = int(match["status"])
    return LogLine(match["client"], match["minute"], match["method"], path, query, status)
