"""Flows: kinds with steps, whose later steps use what answers to earlier ones gave."""

import json
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import JsonValue

from benchforge.errors import TrialFailed
from benchforge.model.trial.answers.answer import Request
from benchforge.suite.mix.drivers import flow_values
from benchforge.suite.mix.feeds import Row
from benchforge.suite.mix.holes import Value, named
from benchforge.suite.mix.tables import FlowStep, RequestKind, UserSession

# Headers of one name are joined by a comma, and dates have one, too.
_APART = re.compile(r", (?=[^=;,\s]+=)")

_OK = 200
OPEN = 0
"Stands for a value that is not there yet, where only the other keys of `expect` count."


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
            raise TrialFailed("ask", f"login: the value at {session.take[name]!r} is not ASCII")
    return User(flow_values.with_cookies({}, new), values, rows)


def given(reply: Reply, take: Mapping[str, str]) -> tuple[dict[str, Value], dict[str, str | None]]:
    """Return an answer's values and cookies, None for one that it ends. Raises NoValue."""
    cookies = flow_values.cookies_set(_APART.split(reply.headers.get("set-cookie", "")))
    body = reply.body if len(reply.body) <= flow_values.LARGEST_BODY else None
    return flow_values.taken(take, reply.headers, cookies, body), cookies


def unfilled(session: UserSession | None) -> User:
    """Return a user whose values are the holes themselves: no secret is in a digest."""
    names = () if session is None else tuple(session.take)
    return User({}, {name: f"{{{name}}}" for name in names})


def for_load_tools(kinds: Mapping[str, RequestKind], later: Container[str]) -> list[JsonValue]:
    """Return label, right statuses, taken values and pause of each kind; `later` are labels."""
    return [
        {
            "label": label,
            "later": label in later,
            "statuses": _statuses(step),
            "take": {**_takes(step)},
            "think_s": None if kind.think is None else float(kind.think),
        }
        for number, kind in kinds.items()
        for label, step in kind.rows(number).items()
    ]


def _statuses(step: RequestKind | FlowStep) -> list[JsonValue]:
    status = step.expect.get("status", _OK)
    return status if isinstance(status, list) else [status]


def _takes(step: RequestKind | FlowStep) -> dict[str, str]:
    return step.take if isinstance(step, FlowStep) else {}


def after(user: User, answered: Iterator[tuple[str, RequestKind | FlowStep, Reply]]) -> User:
    """Return what a user has after some steps. Raises TrialFailed where a value is missing."""
    cookies, values = dict(user.cookies), dict(user.taken)
    for label, step, reply in answered:
        try:
            more, new = given(reply, _takes(step))
        except flow_values.NoValue as error:
            raise TrialFailed("ask", f"step {label!r}: {error}") from error
        values |= more
        cookies = flow_values.with_cookies(cookies, new)
    return User(cookies, values, user.rows)


def taken_names(kind: RequestKind) -> dict[str, Value]:
    """Return the names that steps take, each with a value that stands for it."""
    return {name: OPEN for step in kind.steps for name in step.take}


def shown(step: bytes) -> Request:
    """Return the request of a later step, as `RequestMaker.open` wrote it, with named holes."""
    parts = json.loads(step)
    headers = {name: named(pieces) for name, pieces in parts["headers"]}
    body = None if parts["body"] is None else named(parts["body"])
    return Request(method=parts["method"], path=named(parts["path"]), headers=headers, body=body)
