"""The first requests of each kind of a mix, as a load sends them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import islice

import click
from pydantic import JsonValue

from benchforge.errors import BenchforgeError
from benchforge.model.trial.answers.answer import Request
from benchforge.suite.mix.record import MOST
from benchforge.suite.mix.stream import Mix
from benchforge.suite.suite import Suite
from benchforge.suite.toml.document import as_table
from benchforge.text import safe
from benchforge.text.readable import counted

_USERS = 10  # of a session, by default
_LONGEST = 200  # characters of a body


def request_lines(suite: Suite, seed: int, number: int) -> Iterator[str]:
    """Yield so many requests of each kind of each scenario, from the stream of the first block."""
    if not suite.workloads:
        yield "no scenario has kinds: each sends one request again and again"
    for label, workload in suite.workloads.items():
        if label not in suite.scenarios:
            continue
        deck = counted(len(workload.deck), "request or flow" if workload.after else "request")
        deck = deck.replace("request or flows", "requests or flows")
        heading = f"scenario {label}: requests of block 1; each {deck} have the shares"
        yield click.style(heading, bold=True)
        if (session := suite.scenarios[label].session) is not None:
            yield from _login(session)
        firsts = _firsts(workload, seed, number)
        for (kind, share), requests in zip(workload.shares.items(), firsts, strict=True):
            before = workload.after.get(kind)
            yield f"  {kind}: share {share}" if before is None else f"  {kind}: follows {before}"
            yield from (f"    {line}" for request in requests for line in request)


def _login(session: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the login of a session as the suite has it: its values may be passwords."""
    request, expect = as_table(session.get("request")), as_table(session.get("expect"))
    users, status = session.get("users", _USERS), expect.get("status", HTTPStatus.OK)
    yield f"  login, before the load and not measured: {users} users, expected status {status}"
    line = f"{request.get('method', 'GET')} {request.get('path')}"
    yield f"    {safe.word(line)}"
    for key in ("headers", "form", "body"):
        if key in request:
            value = request[key]
            shown = value if isinstance(value, str) else json.dumps(value)
            yield f"      {key}: {safe.word(shown[:_LONGEST])}"


def _firsts(workload: Mix, seed: int, number: int) -> list[list[list[str]]]:
    """Return the lines of the first requests of each kind, and of each step of a flow."""
    firsts: list[list[list[str]]] = [[] for _ in workload.shares]
    lacking = len(firsts) - len(workload.after)
    try:
        for record in islice(workload.records(seed, 1), MOST):
            if len(firsts[record.kind]) < number:
                head, body = record.head.decode().splitlines(), record.body.decode()
                firsts[record.kind].append([*_lines(head, body)])
                for place, step in zip(
                    record.kinds[1:], workload.open_requests(record), strict=True
                ):
                    firsts[place].append([*_lines(_head(step), step.body or "")])
                lacking -= len(firsts[record.kind]) == number
            if not lacking:
                break
    except BenchforgeError:  # a feed ran out: what was rendered so far is shown
        return firsts
    return firsts


def _head(request: Request) -> list[str]:
    headers = (f"{name}: {value}" for name, value in request.headers.items())
    return [f"{request.method} {request.path}", *headers]


def _lines(head: Sequence[str], body: str) -> Iterator[str]:
    first, *headers = head
    yield safe.word(first.removesuffix(" HTTP/1.1"))
    yield from (f"  {safe.word(header)}" for header in headers)
    if body:
        cut = f"... ({len(body)} characters)" if len(body) > _LONGEST else ""
        yield f"  {safe.word(body[:_LONGEST])}{cut}"
