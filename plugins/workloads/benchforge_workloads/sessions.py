"""Users who log in before the load: what their answers gave, for the requests of the load."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchforge.errors import TrialFailed
from benchforge.suite.workload import Reply
from benchforge_workloads.feeds import Row
from benchforge_workloads.holes import Value
from benchforge_workloads.tables import UserSession

# Headers of one name are joined by a comma, and dates have one, too.
_COOKIE = re.compile(r"(?:^|, )([^=;,\s]+)=([^;,]*)")
_MOST = 4096  # characters of what is taken


@dataclass(frozen=True)
class User:
    """What the answer to a login gave."""

    cookies: Mapping[str, str]
    taken: Mapping[str, Value]
    rows: Mapping[str, Row] = field(default_factory=dict)
    "Rows of the feeds that its login used."

    @property
    def header(self) -> str:
        """The header line with the cookies; empty without any."""
        pairs = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return f"Cookie: {pairs}\r\n" if pairs else ""


def user_of(session: UserSession, login: Reply, rows: Mapping[str, Row]) -> User:
    """Return what a user has after a login. Raises TrialFailed where a value is not there."""
    cookies = dict(_COOKIE.findall(login.headers.get("set-cookie", "")))
    taken: dict[str, Value] = {}
    for name, where in session.take.items():
        source, _, rest = where.partition(":")
        value: object = None
        if source == "cookie":
            value = cookies.get(rest)
        elif source == "header":
            value = login.headers.get(rest.lower())
        else:
            value = _pointed(login.body, rest)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise TrialFailed("ask", f"the answer to a login has no value at {where!r}")
        text = str(value)
        if len(text) > _MOST or not text.isprintable() or not text.isascii():
            raise TrialFailed("ask", f"the value at {where!r} of a login cannot be sent again")
        taken[name] = value
    return User(cookies, taken, rows)


def _pointed(body: bytes, pointer: str) -> object:
    """Return the value at a JSON pointer; None where there is none."""
    try:
        value = json.loads(body)
        for step in pointer.removeprefix("/").split("/"):
            value = value[int(step) if isinstance(value, list) else step]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return value


def unfilled(session: UserSession | None) -> User:
    """Return a user whose values are the holes themselves: no secret is in a digest."""
    names = () if session is None else tuple(session.take)
    return User({}, {name: f"{{{name}}}" for name in names})
