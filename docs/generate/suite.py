"""The format of a suite: every table and every key, with examples that are read by the tests."""

from collections.abc import Iterator

from pydantic import BaseModel

from benchforge.model.answer import Expect, Request
from benchforge.model.placement import Placement
from benchforge.model.runtime import Runtime
from benchforge.model.tuning import Tuning
from benchforge.suite.asking import Side
from benchforge.suite.asking import Written as Claim
from benchforge.suite.load import Top
from benchforge.suite.pivots import Written
from benchforge.suite.suite import Repeat, Scenario
from docs.generate.text import options_table, page_of

_TOP = """
benchforge = 1
name = "hello"
title = "Hello, by two servers"
only = ["hello"]
smoke = true
network = "private"

[servers.waitress]
use = "waitress"
app = "hello_wsgi"

[servers.gunicorn]
use = "gunicorn"
app = "hello_wsgi"

[loaders.closed]
use = "pace"
connections = 8
duration = "1s"

[scenarios.hello]
servers = ["waitress", "gunicorn"]
loaders = ["closed"]
"""
_PARTS = """
[backends.agents]
use = "postgresql"
dataset = "agents"

[clients.library]
use = "http_client"
requests = 200

[metrics.throughput]
use = "throughput"

[metrics.tail]
use = "latency"
percentile = 99.9
"""
_SCENARIO = """
[scenarios.lists]
title = "Lists of several lengths"
request = { path = "/list/{length}" }
requests = { gunicorn = { path = "/lists?length={length}" } }
servers = ["waitress", "gunicorn"]
loaders = ["closed"]
clients = ["library"]
backends = ["agents"]
expect = { status = 200 }
metrics = ["throughput", "tail"]
vary = { "path.length" = [10, 100], "servers.*.threads" = [1, 8] }
include = [{ "path.length" = 10000, "servers.*.threads" = 8 }]
exclude = [{ "path.length" = 100, "servers.*.threads" = 1 }]
"""
_REQUEST = """
[scenarios.send]
servers = ["waitress"]
loaders = ["closed"]

[scenarios.send.request]
method = "POST"
path = "/agents?sorted=yes"
headers = { Accept = "application/json" }
body = '{"name": "Ada"}'
"""
_EXPECT = """
[scenarios.send.expect]
status = 201
content_type = "application/json"
body = '{"id": 1, "name": "Ada"}'
json = { name = "Ada" }
length = 24
same_body = true
"""
_REPEAT = """
[repeat]
blocks = 5
seed = 7
warmup = "2s"
quiet = "1m"
placebo = true
"""
_RUNTIMES = """
[runtimes.pypy]
python = "pypy3"
requires = ["waitress==3.0.2"]
download = false

[servers.waitress_pypy]
use = "waitress"
app = "hello_wsgi"
runtime = "pypy"
"""
_TUNING = """
[tuning]
sysctl = { "net.core.somaxconn" = 4096 }
limits = { nofile = 8192 }
"""
_PLACEMENT = """
[placement]
server = "0-2"
upstream = "0-2"
backend = "0-2"
loader = [3]
"""
_TABLES = """
[tables.by_length]
title = "Lists by length and threads"
scenario = "lists"
rows = "server"
columns = ["path.length", "servers.*.threads"]
metric = "throughput"
show = ["median", "min", "max"]
where = { driver = "closed" }

[tables.all]
scenarios = ["hello", "send"]
rows = ["scenario", "server"]
metrics = ["throughput", "tail"]
"""
_CLAIMS = """
[claims.lists]
says = "gunicorn sends more lists than waitress, whatever their length"
scenario = "lists"
metric = "throughput"
a = { server = "gunicorn", loader = "closed" }
b = { server = "waitress", loader = "closed" }
where = { "servers.*.threads" = 8 }
each = "path.length"
holds = "a > b"
margin = "3%"
published = 1.08
original = "its workers were not the same number"

[claims.tail]
scenario = "lists"
metric = "tail"
a = { server = "waitress", loader = "closed" }
where = { "path.length" = 10, "servers.*.threads" = 8 }
holds = "a < 250ms"
"""
_SIDES = """
[claims.library]
says = "a library of Python adds less than 20 ms to each request"
scenario = "lists"
metric = "tail"
where = { "path.length" = 10, "servers.*.threads" = 8 }
a = { server = "waitress", client = "library", minus = { loader = "closed" } }
holds = "a < 20ms"
"""
_PROFILES = """
[profiles.full]
only = ["hello", "send"]
repeat.blocks = 10
loaders.closed.duration = "30s"
"""
_SECRETS = """
[servers.paid]
use = "waitress"
app = "hello_wsgi"
environment = { API_KEY = { env = "MY_API_KEY" } }
"""


def page() -> str:
    """Return the page."""
    return page_of("Suite", _ABOUT, *(text for section in _sections() for text in section))


_ABOUT = (
    "One TOML file. An unknown key is an error with its line and what was probably meant. "
    "The examples below are one suite, piece by piece."
)


def _sections() -> Iterator[tuple[str, ...]]:
    yield _section("Top of the file", "", Top, _TOP)
    yield _section("Parts", _OF_PARTS, None, _PARTS)
    yield _section(
        "`[scenarios.LABEL]`",
        "A request, what answers it, and what makes it. It has a case for each server, each loader "
        "or client, and each point of `vary`. An option that varies is named by its path: "
        '`"servers.gunicorn.workers"`, `"loaders.*.connections"` for all that have it, '
        '`"path.NAME"` for `{NAME}` in the path of a request.',
        Scenario,
        _SCENARIO,
    )
    yield _section("`request`", "Of a scenario.", Request, _REQUEST)
    yield _section(
        "`expect`",
        "Of a scenario: asked before and after each load, from inside the trial.",
        Expect,
        _EXPECT,
    )
    yield _section("`[repeat]`", "", Repeat, _REPEAT)
    yield _section(
        "`[runtimes.LABEL]`",
        "Interpreters for servers, pace and clients. With `requires` an environment is built once "
        "by uv, from pinned packages.",
        Runtime,
        _RUNTIMES,
    )
    yield _section("`[tuning]`", "", Tuning, _TUNING)
    yield _section(
        "`[placement]`",
        'CPUs by role. `placement = "auto"` at the top, in place of the table, gives the load tool '
        'a quarter of the cores, at least one, and all others the rest; `"off"`, the default, '
        "lets all share all.",
        Placement,
        _PLACEMENT,
    )
    yield _section("`[tables.LABEL]`", "In every report, and as CSV.", Written, _TABLES)
    yield _section(
        "`[claims.LABEL]`",
        "What is said of the cases, and answered by a run: see [claims](../claims.md).",
        Claim,
        _CLAIMS,
    )
    yield _section(
        "A side of a claim, `a` or `b`",
        "Exactly one case.",
        Side,
        _SIDES,
    )
    yield _section(
        "`[profiles.LABEL]`",
        "What `--profile LABEL` lays over the suite: tables merge, anything else replaces. It "
        "takes every key of a suite but `benchforge` and `profiles`.",
        None,
        _PROFILES,
    )
    yield _section(
        "Values from the environment",
        '`{ env = "NAME" }` stands for a text. What it gives is `***` in everything that is '
        "written. So are passwords in URLs, and the values of keys with password, passwd, secret "
        "or token in their names.",
        None,
        _SECRETS,
    )


_OF_PARTS = (
    "`[servers.LABEL]`, `[backends.LABEL]`, `[loaders.LABEL]`, `[clients.LABEL]` and "
    "`[metrics.LABEL]` declare what takes part. `use` names it; all other keys are its own: "
    "[servers](servers.md), [backends](backends.md), [loaders](loaders.md), "
    "[clients](clients.md), [metrics](metrics.md). A label has letters, digits, `_` and `-`."
)


def _section(title: str, about: str, keys: type[BaseModel] | None, example: str) -> tuple[str, ...]:
    told = options_table(keys) if keys else ""
    return (f"## {title}", about, told, f"```toml\n{example.strip()}\n```")
