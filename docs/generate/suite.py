"""The format of a suite: every table and every key, with examples that are read by the tests."""

from collections.abc import Iterator

from pydantic import BaseModel

from benchforge.model.suite.claim import VerdictRules, Waiver
from benchforge.model.suite.code import Runtime
from benchforge.model.suite.placement import EngineTable, HostsByRole, HostTable, Placement, Tuning
from benchforge.model.trial.answers.answer import Expect, Request
from benchforge.suite.claims.pivots import PivotTable
from benchforge.suite.claims.where import ClaimTable as Claim
from benchforge.suite.claims.where import Side
from benchforge.suite.load import Top
from benchforge.suite.mix.tables import Feed, FlowStep, KindRequest, RequestKind, UserSession
from benchforge.suite.suite import Repeat, Scenario, Wanted
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
expects = { gunicorn = { status = [200, 203] } }
metrics = ["throughput", "tail"]
vary = { "path.length" = [10, 100], "servers.*.threads" = [1, 8] }
include = [{ "path.length" = 10000, "servers.*.threads" = 8 }]
exclude = [{ "path.length" = 100, "servers.*.threads" = 1 }]
interleave = "off"                # whatever [repeat] says
turns = "all"                     # if they take turns: all cases, not only the compared ones
blocks = 20                       # instead of that of [repeat]

[scenarios.mix]
servers = ["waitress"]
loaders = ["closed"]
session = { users = 5, request = { path = "/login" } }
kinds = { lists = { share = 7, request = { path = "/list/10" } }, one = { share = 3 } }

[loaders.steady]
use = "pace"
connections = 8
rate = "500/s"
duration = "1s"

[scenarios.times]                 # response times of the servers of `lists`, at one rate
request = { path = "/list/10" }
servers = ["waitress", "gunicorn"]
loaders = ["steady"]
latency_of = "lists"
"""
_FEEDS = """
[feeds.word]
values = ["lamp", "chair"]
skew = "zipf 1.1"
"""
_KIND = """
[scenarios.shop]
servers = ["waitress"]
loaders = ["closed"]

[scenarios.shop.kinds.search]
share = 7
request = { path = "/search?q={word}" }
expect = { status = 200 }
"""
_STEPS = """
[scenarios.shop.kinds.buy]
share = 3

[[scenarios.shop.kinds.buy.steps]]
name = "add"
request = { method = "POST", path = "/carts", form = { product = "7" } }
expect = { status = 201 }
take = { cart = "json:/cart/id" }

[[scenarios.shop.kinds.buy.steps]]
name = "pay"
request = { method = "POST", path = "/carts/{cart}/pay", form = { card = "1" } }
"""
_SESSION = """
[scenarios.shop.session]
users = 5
request = { method = "POST", path = "/login", form = { name = "ada" } }
take = { csrf = "cookie:csrftoken" }
"""
_REQUEST = """
[scenarios.send]
servers = ["waitress"]
loaders = ["closed"]
monitor = "20/s"

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
body = '{"id": 1, "names": ["Ada", "Grace"]}'
body_matches = '"id": [0-9]+'
json = { names = ["Ada"] }        # with `items`, an array may begin so and go on
items = { names = 2 }             # or 50, where the body is an array
length = 36                       # or { min = 9, max = 64 }, or "any"
same_body = true
"""
_FIND = """
[loaders.open]
use = "pace"
connections = 500
duration = "10s"

[scenarios.most]
servers = ["waitress", "gunicorn"]
loaders = ["open"]
find = { rate = [100, "20k"], slo = ["tail < 50ms", "throughput > 90"], steps = 20 }
"""
_REPEAT = """
[repeat]
blocks = 5
seed = 7
warmup = "2s"
quiet = "1m"
placebo = true
bridge = 0                        # or 8, for servers in turns

[profiles.closely.repeat]       # instead of `blocks`: as many as the precision needs
until = "3%"
between = [8, 30]
level = "99%"
"""
_VERDICTS = """
[verdicts]
family = "run"
correction = "benjamini-hochberg"
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
_HOSTS = """
[hosts.load]
ssh = "bench@10.0.0.1"            # or a name of ~/.ssh/config
address = "10.0.1.1"

[hosts.app]
ssh = "app-1"
python = "/usr/bin/python3.11"
labels = ["nvme"]
"""
_ENGINE = """
# on-dask.toml
[engine]
use = "dask"
scheduler = "tls://10.0.0.1:8786"
ca = "tls/ca.pem"
certificate = "tls/me.pem"
key = "tls/me.key"
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
_GATE = """
[gate]
irrelevant = ["docs/**"]
allow = [{ scenario = "send", server = "waitress", reason = "checks more", until = 2999-01-31 }]
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
    "A suite is a TOML file. An unknown key is an error, with its line and the nearest known key. "
    "The examples below are pieces of one suite."
)


def _sections() -> Iterator[tuple[str, ...]]:
    yield _section("Top of the file", "", Top, _TOP)
    yield _section("Parts", _OF_PARTS, None, _PARTS)
    yield _section(
        "`[scenarios.LABEL]`",
        "A scenario is a request with the servers that answer it and the load tools or clients "
        "that "
        "send it. It has a case for each server, each load tool or client, and each point of "
        "`vary`. The path of an option is, for example, "
        '`"servers.gunicorn.workers"`, `"loaders.*.connections"` for all that have the option, or '
        '`"path.NAME"` for `{NAME}` in the path of a request.',
        Scenario,
        _SCENARIO,
    )
    yield _section("`request`", "The request of a scenario.", Request, _REQUEST)
    yield _section(
        "`expect`",
        "The right answer of a scenario. benchforge checks it before and after each load, "
        "[from inside the trial](../how-to/right-answers.md).",
        Expect,
        _EXPECT,
    )
    yield _section("`[feeds.LABEL]`", _OF_FEEDS, Feed, _FEEDS)
    yield _section(
        "`[scenarios.LABEL.kinds.KIND]`",
        "One kind of a scenario's mix: [measure the mix of your own app](../how-to/mix.md). Its "
        "`request` has the keys of a scenario's request, and `form`.",
        RequestKind,
        _KIND,
    )
    yield "### `request` of a kind, a step or a session", options_table(KindRequest)
    yield _section(
        "`[[scenarios.LABEL.kinds.KIND.steps]]`",
        "A step of a [flow](../how-to/mix.md#flows).",
        FlowStep,
        _STEPS,
    )
    yield _section(
        "`[scenarios.LABEL.session]`",
        "The login of [users](../how-to/mix.md#users-who-log-in) before each load. It is not "
        "measured.",
        UserSession,
        _SESSION,
    )
    yield _section(
        "`find`",
        "A search in a scenario, instead of one load per case: "
        "[the highest rate that keeps an objective](../capacity.md).",
        Wanted,
        _FIND,
    )
    yield _section("`[repeat]`", _AMOUNT, Repeat, _REPEAT)
    yield _section(
        "`[runtimes.LABEL]`",
        "Interpreters for servers, pace and clients. With `requires`, uv builds an environment "
        "once, "
        "from pinned packages.",
        Runtime,
        _RUNTIMES,
    )
    yield _section("`[tuning]`", "", Tuning, _TUNING)
    yield _section(
        "`[placement]`",
        'CPUs by role. `placement = "auto"` at the top of the file, instead of the table, gives '
        "the "
        "load tool a quarter of the cores, at least one, and everything else the rest. With "
        '`"off"`, the default, all processes share all CPUs.',
        Placement,
        _PLACEMENT,
    )
    yield _section(
        "`[hosts.LABEL]`",
        "A machine that runs parts of trials, over ssh: "
        "[measure on several hosts](../how-to/several-hosts.md). Each server, backend, load tool "
        'and client takes the key `host = "LABEL"`; `[placement.hosts]` names hosts by role. '
        "In a scenario all parts have a host, or none has.",
        HostTable,
        _HOSTS,
    )
    about = "Hosts of parts that name none themselves."
    yield "## `[placement.hosts]`", about, options_table(HostsByRole)
    yield _section(
        "`[engine]`",
        "What carries benchforge's calls to the hosts. Without this table it is OpenSSH.",
        EngineTable,
        _ENGINE,
    )
    yield _section(
        "`[tables.LABEL]`", "A table in every report and in a CSV file.", PivotTable, _TABLES
    )
    yield _section(
        "`[claims.LABEL]`",
        "A statement about cases, which a run tests: see [claims](../claims.md).",
        Claim,
        _CLAIMS,
    )
    yield _section(
        "A side of a claim, `a` or `b`",
        "Together with the claim, a side selects exactly one case.",
        Side,
        _SIDES,
    )
    yield _section(
        "`[verdicts]`",
        "Rules that adjust verdicts for the number of questions: see "
        "[claims](../claims.md#computation).",
        VerdictRules,
        _VERDICTS,
    )
    yield _section(
        "`[gate]`",
        "What [`benchforge gate`](../how-to/gate.md) reads. `irrelevant` has paths that no server "
        "depends on: if all changed files are among them, nothing is measured. `allow` is an array "
        "of waivers.",
        Waiver,
        _GATE,
    )
    yield _section(
        "`[profiles.LABEL]`",
        "Changes to the suite that `--profile LABEL` applies: tables merge, other values "
        "replace. A "
        "profile takes every key of a suite except `benchforge` and `profiles`.",
        None,
        _PROFILES,
    )
    yield _section(
        "Values from the environment",
        '`{ env = "NAME" }` takes a text from an environment variable. benchforge writes and '
        "prints "
        "it as `***`. The same applies to passwords in URLs, and to values whose key contains "
        "password, passwd, passphrase, secret, token, api_key or authorization. A secret has eight "
        "characters or more. [Details](../how-to/secrets.md).",
        None,
        _SECRETS,
    )


_AMOUNT = (
    "`blocks` and `until` exclude each other. The last one counts: a profile overrides the suite, "
    "and `--set` overrides both. [How to choose](../how-to/how-many-blocks.md)."
)
_OF_FEEDS = (
    "Values for holes in the requests of kinds: `{LABEL}`, or `{LABEL.column}` with a file. A feed "
    "has one of `values`, `integers`, `text` and `file`."
)
_OF_PARTS = (
    "`[servers.LABEL]`, `[backends.LABEL]`, `[loaders.LABEL]`, `[clients.LABEL]` and "
    "`[metrics.LABEL]` declare parts. `use` names the part; all other keys are its options: "
    "[servers](servers.md), [backends](backends.md), [loaders](loaders.md), "
    "[clients](clients.md), [metrics](metrics.md). A label has letters, digits, `_` and `-`."
)


def _section(title: str, about: str, keys: type[BaseModel] | None, example: str) -> tuple[str, ...]:
    told = options_table(keys) if keys else ""
    return (f"## {title}", about, told, f"```toml\n{example.strip()}\n```")
