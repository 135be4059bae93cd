"""Users who log in before the load: what their answers gave, for the requests of the load."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from benchforge.errors import TrialFailed
from benchforge.suite.mix.drivers import flow_values
from benchforge.suite.mix.feeds import Row
from benchforge.suite.mix.holes import Value
from benchforge.suite.mix.tables import UserSession

# Headers of one name are joined by a comma, and dates have one, too.
_APART = re.compile(r", (?=[^=;,\s]+=)")


class Reply(NamedTuple):
    """The answer to a login, or to a step of a flow."""

    headers: Mapping[str, str]
    body: bytes


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
    try:
        values, new = given(login, session.take)
    except flow_values.NoValue as error:
        raise TrialFailed("ask", f"login: {error}") from error
    for name, value in values.items():
        if not str(value).isascii():
            where = session.take[name]
            raise TrialFailed("ask", f"login: the value at {where!r} is not ASCII")
    return User(flow_values.with_cookies({}, new), values, rows)


def given(reply: Reply, take: Mapping[str, str]) -> tuple[dict[str, Value], dict[str, str | None]]:
    """Return the values that are taken of an answer, and the cookies that it sets. Raises NoValue.

    None stands for a cookie that it ends.
    """
    cookies = flow_values.cookies_set(_APART.split(reply.headers.get("set-cookie", "")))
    body = reply.body if len(reply.body) <= flow_values.LARGEST_BODY else None
    return flow_values.taken(take, reply.headers, cookies, body), cookies


def unfilled(session: UserSession | None) -> User:
    """Return a user whose values are the holes themselves: no secret is in a digest."""
    names = () if session is None else tuple(session.take)
    return User({}, {name: f"{{{name}}}" for name in names})
