"""What arrives: benchforge, its monitor, load tools and clients send a request alike."""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from front_door import PROGRAMS, Bench, needed_module, needed_tool
from hypothesis import given
from hypothesis import strategies as st
from measured.case import cases
from present import present

from benchforge.plugin import Request

PAGE = Path(__file__).parents[3] / "docs/how-to/right-answers.md"
PATH = "/a/b%20c?x=1&y=%20z&x=2"
NOT_THERE = "GET /benchforge-asks-for-what-is-not-there "
LENGTH = "Content-Length"
DECLARED = {"X-One": "a b", "Accept": "text/plain", "User-Agent": "mine/1"}
DECLARED |= {"Accept-Encoding": "gzip", "Host": "a.example:8080"}
BODY = {"headers": {**DECLARED, "Content-Type": "application/json"}, "body": '{"a": 1}'}
REQUESTS: dict[str, dict[str, Any]] = {
    "get": {"method": "GET", "headers": DECLARED},
    "head": {"method": "HEAD", "headers": DECLARED},
    "post": {"method": "POST", "headers": DECLARED},
    "post-body": {"method": "POST", **BODY},
    "put": {"method": "PUT", "headers": DECLARED},
    "put-body": {"method": "PUT", **BODY},
    "delete": {"method": "DELETE", "headers": DECLARED},
    "plain-get": {"method": "GET"},
    "plain-post": {"method": "POST", "body": '{"a": 1}'},
}
MODULES = {"http_client": "http.client", "urllib": "urllib.request", "locust": "locust"}


@dataclass(frozen=True)
class Row:
    """A row of the page's table."""

    tool: str
    version: str
    own: frozenset[str]
    with_body: frozenset[str]
    cannot: frozenset[str]
    otherwise: str

    @classmethod
    def from_line(cls, line: str) -> "Row":
        tool, version, *cells, otherwise = map(str.strip, line.split("|")[1:-1])
        mine, with_body, cannot = (frozenset(filter(None, cell.split(", "))) for cell in cells)
        return cls(tool, version, mine, with_body, cannot, otherwise)

    @property
    def suite(self) -> str:
        name, _, option = self.tool.partition(", ")
        if name in {"pace", "wrk", "ab", "h2load", "hey", "siege"}:
            return f'[loaders.tool]\nuse = "{name}"\nconnections = 2\nduration = "1s"\n'
        if name == "locust":
            text = '[loaders.tool]\nuse = "locust"\nusers = 2\nduration = "1s"\n'
            return f"{text}{option.strip('`')}\n"
        return f'[clients.tool]\nuse = "{name}"\nrequests = 5\n'


ROWS = [
    Row.from_line(line)
    for line in PAGE.read_text().partition("## What arrives")[2].splitlines()
    if re.match(r"\| [a-z]", line)
][1:]
OURS = next(row for row in ROWS if row.tool == "benchforge")


@dataclass(frozen=True)
class Arrived:
    """A request as the server got it."""

    line: str
    headers: tuple[tuple[str, str], ...]
    body: str
    framing: str

    @classmethod
    def from_record(cls, head: str, body: str, framing: str) -> "Arrived":
        line, *lines = head.rstrip().split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = tuple((name.title(), text.strip()) for name, _, text in pairs)
        return cls(line, headers, body, framing)

    def own(self, declared: Mapping[str, str]) -> frozenset[str]:
        return frozenset(name for name, _ in self.headers) - {*declared, "Host", LENGTH}


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(item)}" for name, item in value.items()) + " }"
    return json.dumps(value)


def measured(
    bench: Bench, folder: Path, row: Row, request: Mapping[str, Any]
) -> tuple[str, set[Arrived]]:
    log = folder / "requests.log"
    program = [sys.executable, str(PROGRAMS / "servers/records.py")]
    words = [*program, "--raw", "--port", "{port}", "--log", str(log)]
    (folder / "suite.toml").write_text(
        'benchforge = 1\nsmoke = true\nwrites = ["."]\n'
        f'[servers.raw]\nuse = "command"\ncommand = {toml(words)}\n'
        f'{row.suite}[scenarios.one]\nservers = ["raw"]\n{row.suite[1:8].rstrip(".")} = ["tool"]\n'
        f'request = {toml({**request, "path": PATH})}\n[repeat]\nblocks = 1\nwarmup = "0s"\n'
    )
    ran = bench("run", "suite.toml", "-o", "results")
    if request["method"] not in row.cannot:
        assert ran.code == 0, ran.all
    records = (json.loads(line) for line in log.read_text().splitlines())
    return ran.all, {Arrived.from_record(*record) for record in records}


@pytest.mark.samples(5)
@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("row", [row for row in ROWS if row != OURS], ids=lambda row: row.tool)
def test_requests_arrive_as_declared(bench: Bench, tmp_path: Path, row: Row, name: str) -> None:
    tool, request = row.tool.partition(",")[0], REQUESTS[name]
    if "[loaders" in row.suite:
        needed_tool(row.suite)
    else:
        needed_module(MODULES.get(tool, tool))
    method, body = request["method"], request.get("body", "")
    declared = request.get("headers", {})
    screen, requests = measured(bench, tmp_path, row, request)
    if method in row.cannot:
        assert f"{tool}: a {method} request" in " ".join(screen.split())
        return
    requests = {request for request in requests if not request.line.startswith(NOT_THERE)}
    lengths = {str(len(body))} if body or method in {"POST", "PUT"} else set()
    for arrived in requests:
        assert arrived.line.rpartition(" ")[0] == f"{method} {PATH}"
        assert arrived.body == body
        headers = dict(arrived.headers)
        assert len(headers) == len(arrived.headers), "a header was sent twice"
        of_tool = arrived.own(declared) - OURS.own
        assert of_tool <= row.own | row.with_body, "the table lacks a header"
        wrong = {key for key, text in declared.items() if headers[key] != text}
        its_lengths = {text for key, text in arrived.headers if key == LENGTH}
        if "own User-Agent" in row.otherwise:
            wrong -= {"User-Agent"}
        if f"{method} with `{LENGTH}: 0`" in row.otherwise:
            its_lengths -= {"0"}
        assert not wrong, "a declared header was not sent"
        assert its_lengths == lengths, arrived
        assert arrived.framing in {"", "length"}
    if name.startswith("plain"):
        mine = row.own | (row.with_body if body else frozenset())
        sent = {request.own(declared) for request in requests}
        assert mine in sent, "the table has a header too many"
    versions = {request.line.rpartition("/")[2] for request in requests}
    assert row.version in versions <= {row.version, "1.1"}


def test_the_table_differs_where_a_tool_does() -> None:
    tools = {row.tool.partition(",")[0] for row in ROWS if row.otherwise}
    assert tools == {"hey", "locust", "aiohttp", "requests"}


@given(method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]))
def test_a_request_without_a_body_has_a_length_where_its_method_expects_one(method: str) -> None:
    request = Request.model_validate({"method": method, "headers": {"X-One": "1"}})
    expects = method in {"POST", "PUT", "PATCH"}
    assert request.framed.headers == {"X-One": "1"} | ({LENGTH: "0"} if expects else {})
    assert request.framed.framed == request.framed
    for headers in ({"content-length": "0"}, {"Transfer-Encoding": "chunked"}):
        declared = request.model_copy(update={"headers": headers})
        assert declared.framed == declared
    with_body = request.model_copy(update={"body": ""})
    assert with_body.framed == with_body


def test_each_kind_that_expects_a_body_has_one_length(tmp_path: Path) -> None:
    path = tmp_path / "suite.toml"
    kinds = {"none": "", "body": ', body = "x"', "form": ', form = { a = "1" }'}
    lines = (
        f'[scenarios.mix.kinds.{kind}]\nrequest = {{ method = "POST", path = "/"{more} }}\n'
        for kind, more in kinds.items()
    )
    path.write_text(
        'benchforge = 1\n[servers.raw]\nuse = "command"\ncommand = ["raw", "{port}"]\n'
        '[loaders.tool]\nuse = "pace"\n[scenarios.mix]\nservers = ["raw"]\nloaders = ["tool"]\n'
        + "".join(lines)
    )
    workload = present(cases(path)[0].workload)
    heads = {record.head.decode() for record in islice(workload.records(0, 1), 50)}
    lengths = sorted(line for head in heads for line in head.split("\r\n") if LENGTH in line)
    assert lengths == [f"{LENGTH}: {length}" for length in (0, 1, 3)]
