"""A suite is read once: what is in it, what is laid over it, and the cases that it makes."""
# ruff: noqa: E501 - output stands here as it is printed

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal, Self

import pytest
from pydantic import Field, PositiveInt, model_validator

from benchforge.plugin import (
    Backend,
    Client,
    Command,
    Driver,
    Duration,
    Loader,
    Metric,
    Output,
    Part,
    Reading,
    Sample,
    Server,
    Site,
    Target,
    Trial,
    Window,
    hookimpl,
)
from benchforge.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load
from benchforge.suite.secrets.redact import redact
from benchforge.suite.suite import Repeat, Suite
from benchforge.suite.toml.built_in import brought
from benchforge.suite.toml.faults import SuiteErrors


class Web(Server):
    name: ClassVar[str] = "gunicorn"
    app: str
    workers: PositiveInt = 1
    threads: PositiveInt = 1
    argv: list[str] = Field(default_factory=list, alias="command")
    directory: Path = Path()
    environment: dict[str, str] = Field(default_factory=dict)
    worker_class: Literal["sync", "gthread"] = "sync"
    limit: int | Literal["none"] = "none"

    def command(self, site: Site) -> Command:
        return Command("gunicorn")

    def fingerprint(self, suite_folder: Path) -> str:
        return f"code of {self.app}"


class Url(Server):
    name: ClassVar[str] = "url"
    url_: str = Field(alias="url")

    def command(self, site: Site) -> None:
        return None


class Database(Backend):
    name: ClassVar[str] = "postgresql"
    url: str | None = None
    password: str = ""
    settings: dict[str, int | str | bool] = Field(default_factory=dict)

    def command(self, site: Site) -> Command:
        return Command("postgres")


class Load(Driver):
    connections: PositiveInt = 10
    threads: PositiveInt = 1
    duration: Duration = Duration(10)
    rate: float = Field(default=1.0, gt=0)

    def commands(self, target: Target) -> Sequence[Command]:
        return [Command("true")]

    def read(self, output: Output) -> Reading:
        raise NotImplementedError

    def declared_s(self) -> float:
        return float(self.duration)

    def for_warm_up(self, seconds: float) -> Driver:
        return self.model_copy(update={"duration": Duration(seconds)})

    @model_validator(mode="after")
    def _threads_have_connections(self) -> Self:
        if self.threads > self.connections:
            msg = "a thread needs a connection"
            raise ValueError(msg)
        return self


class Wrk(Load, Loader):
    name: ClassVar[str] = "wrk"


class Requests(Load, Client):
    name: ClassVar[str] = "requests"


class Number(Metric):
    unit: ClassVar[str] = "1"
    better: ClassVar[Literal["higher", "lower"]] = "higher"

    def of_trial(self, trial: Trial, label: str, window: Window) -> Iterator[Sample]:
        yield from ()


class Throughput(Number):
    name: ClassVar[str] = "throughput"
    count: Literal["good", "all"] = "good"


class Latency(Number):
    name: ClassVar[str] = "latency"
    percentiles: tuple[float, ...] = (50,)


OPEN_LOOP = ("rate", "lateness")
OTHERS: list[type[Part]] = [
    Latency,
    *(
        type(name, (Number,), {"name": name, "__module__": __name__, "__annotations__": {}})
        for name in ("errors", "error_rate", "cpu", "memory", "transfer", "keepalive", *OPEN_LOOP)
    ),
]


class Plugin:
    @staticmethod
    @hookimpl
    def benchforge_parts() -> list[type[Part]]:
        return [Web, Url, Database, Wrk, Requests, Throughput, *OTHERS]


@pytest.fixture
def registry() -> Registry:
    found = Registry(points=())
    found.register(Plugin())
    return found


SUITE = """\
benchforge = 1
title = "Two servers"

[backends.agents]
use = "postgresql"
settings = { max_connections = 1000, fsync = false }

[servers.django]
use = "gunicorn"
app = "django_agents"
workers = 4

[servers.aiohttp]
use = "gunicorn"
app = "aiohttp_agents"

[loaders.closed]
use = "wrk"
connections = 64
duration = "10s"

[scenarios.agents]
request = { path = "/agents" }
servers = ["django", "aiohttp"]
loaders = ["closed"]
backends = ["agents"]
expect = { status = 200, json = [1] }

[repeat]
blocks = 4
warmup = "3s"

[profiles.quick]
repeat.blocks = 3
loaders.closed.duration = "3s"

[profiles.broken.loaders.closed]
duration = "3 s seconds"
"""


class Folder:
    """A folder that holds one suite."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def load(self, text: str | bytes, **options: object) -> Suite:
        content = text.encode() if isinstance(text, str) else text
        Path("a.toml").write_bytes(content)
        return load("a.toml", self.registry, **options)  # type: ignore[arg-type]

    def faults(self, text: str | bytes, **options: object) -> str:
        with pytest.raises(SuiteErrors) as caught:
            self.load(text, **options)
        assert f"error: {caught.value}" == caught.value.text()
        assert caught.value.exit_code == 2
        return caught.value.text() + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registry: Registry) -> Folder:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PGURL", raising=False)
    return Folder(registry)


# What replaces what in the suite, and all that is printed then.
MANY = list(range(1, 801))

FAULTS = {
    "unknown_option": (
        "workers = 4",
        "worker = 4",
        """\
error: a.toml:11:1: servers.django.worker: unknown option
   11 | worker = 4
      | ^^^^^^
hint: did you mean 'workers'? gunicorn takes: app, workers, threads, command, directory, environment, worker_class, limit, ready_within
""",
    ),
    "a_correction_that_nobody_knows": (
        "[repeat]",
        '[verdicts]\ncorrection = "bonferroni"\n[repeat]',
        """\
error: a.toml:30:1: verdicts.correction: expected 'benjamini-hochberg' or 'holm', got 'bonferroni'
   30 | correction = "bonferroni"
      | ^^^^^^^^^^
""",
    ),
    "unknown_key_at_the_top": (
        'title = "Two',
        'titel = "Two',
        """\
error: a.toml:2:1: titel: unknown key
    2 | titel = "Two servers"
      | ^^^^^
hint: did you mean 'title'? a suite takes: benchforge, name, title, only, smoke, network, sockets, writes, servers, backends, loaders, clients, and 14 more
""",
    ),
    "unknown_key_of_a_scenario": (
        'loaders = ["closed"]',
        'loader = ["closed"]',
        """\
error: a.toml:25:1: scenarios.agents.loader: unknown key
   25 | loader = ["closed"]
      | ^^^^^^
hint: did you mean 'loaders'? this table takes: title, request, requests, kinds, session, servers, loaders, clients, backends, expect, expects, metrics, and 9 more
""",
    ),
    "unknown_key_of_a_request": (
        'path = "/agents"',
        'pth = "/agents"',
        """\
error: a.toml:23:13: scenarios.agents.request.pth: unknown key
   23 | request = { pth = "/agents" }
      |             ^^^
hint: did you mean 'path'? this table takes: method, path, headers, body
""",
    ),
    "unknown_key_of_a_profile": (
        "repeat.blocks = 3",
        "repeats.blocks = 3",
        """\
error: a.toml:34:1: profiles.quick.repeats: unknown key
   34 | repeats.blocks = 3
      | ^^^^^^^
hint: did you mean 'repeat'? a profile takes: name, title, only, smoke, network, sockets, writes, servers, backends, loaders, clients, metrics, and 12 more
""",
    ),
    "no_toml": (
        'use = "wrk"',
        "use = wrk",
        """\
error: a.toml:18:7: not TOML: no value
   18 | use = wrk
      |       ^^^
hint: put text in quotes: "wrk"
""",
    ),
    "key_twice": (
        'use = "wrk"',
        'use = "wrk"\nuse = "wrk"',
        """\
error: a.toml:19:1: not TOML: loaders.closed.use stands on line 18 already
   19 | use = "wrk"
      | ^^^
hint: leave one out, or rename one
""",
    ),
    "another_format": (
        "benchforge = 1",
        "benchforge = 2\nunheard_of = true",
        """\
error: a.toml:1:1: benchforge: expected 1, got 2
    1 | benchforge = 2
      | ^^^^^^^^^^
hint: this benchforge reads format 1; a newer one may read this suite
""",
    ),
    "no_format": (
        "benchforge = 1\n",
        "",
        """\
error: a.toml: 'benchforge' is missing
hint: write benchforge = 1 as the first line: the format of the suite
""",
    ),
    "wrong_types": (
        "workers = 4",
        "workers = '4'\nthreads = true\nlimit = 'x'\nworker_class = 'gthred'\ncommand = 5\nready_within = 'x'",
        """\
error: a.toml:11:1: servers.django.workers: expected a whole number, got '4'
   11 | workers = '4'
      | ^^^^^^^
hint: write 4, without quotes
error: a.toml:12:1: servers.django.threads: expected a whole number, got true
   12 | threads = true
      | ^^^^^^^
error: a.toml:13:1: servers.django.limit: expected a whole number or 'none', got 'x'
   13 | limit = 'x'
      | ^^^^^
error: a.toml:14:1: servers.django.worker_class: expected 'sync' or 'gthread', got 'gthred'
   14 | worker_class = 'gthred'
      | ^^^^^^^^^^^^
error: a.toml:15:1: servers.django.command: expected an array, got 5
   15 | command = 5
      | ^^^^^^^
hint: write [5, ...]
error: a.toml:16:1: servers.django.ready_within: expected a duration such as "30s", "500ms" or a number of seconds, got 'x'
   16 | ready_within = 'x'
      | ^^^^^^^^^^^^
""",
    ),
    "missing_option": (
        'app = "django_agents"\n',
        "",
        """\
error: a.toml:8:10: servers.django: 'app' is missing
    8 | [servers.django]
      |          ^^^^^^
""",
    ),
    "unknown_part": (
        'use = "wrk"',
        'use = "wrkk"',
        """\
error: a.toml:18:1: loaders.closed.use: no loader named 'wrkk'
   18 | use = "wrkk"
      | ^^^
hint: did you mean 'wrk'? installed: wrk; others come as plugins
""",
    ),
    "no_use": (
        'use = "wrk"\n',
        "",
        """\
error: a.toml:17:10: loaders.closed: 'use' is missing
   17 | [loaders.closed]
      |          ^^^^^^
hint: it names the loader; installed: wrk
""",
    ),
    "use_is_no_name": (
        'use = "wrk"',
        "use = 5",
        """\
error: a.toml:18:1: loaders.closed.use: expected the name of a part
   18 | use = 5
      | ^^^
hint: it names the loader; installed: wrk
""",
    ),
    "labels": (
        'servers = ["django", "aiohttp"]',
        'servers = ["djang", "aiohttp", "aiohttp"]\nmetrics = ["tail"]',
        """\
error: a.toml:24:12: scenarios.agents.servers[0]: no server 'djang' is declared
   24 | servers = ["djang", "aiohttp", "aiohttp"]
      |            ^^^^^^^
hint: did you mean 'django'? declared: django, aiohttp
error: a.toml:24:32: scenarios.agents.servers[2]: 'aiohttp' is named twice
   24 | servers = ["djang", "aiohttp", "aiohttp"]
      |                                ^^^^^^^^^
hint: to measure it twice, declare it under a second label
error: a.toml:25:12: scenarios.agents.metrics[0]: no metric 'tail' is declared
   25 | metrics = ["tail"]
      |            ^^^^^^
hint: declared: throughput, errors, rate, latency, cpu, memory, keepalive, transfer, error_rate, all_throughput, lateness
""",
    ),
    "no_servers": (
        'servers = ["django", "aiohttp"]',
        "servers = []",
        """\
error: a.toml:24:1: scenarios.agents.servers: expected at least 1 element, got an empty array
   24 | servers = []
      | ^^^^^^^
""",
    ),
    "no_driver": (
        'loaders = ["closed"]\n',
        "",
        """\
error: a.toml:22:12: scenarios.agents: no loader and no client is named
   22 | [scenarios.agents]
      |            ^^^^^^
hint: name a load tool or a client: loaders = [...] or clients = [...]; declared: closed
""",
    ),
    "path_without_slash": (
        'path = "/agents"',
        'path = "agents"',
        """\
error: a.toml:23:13: scenarios.agents.request.path: expected a path that begins with '/', in ASCII and without spaces, got 'agents'
   23 | request = { path = "agents" }
      |             ^^^^
""",
    ),
    "requests_of_nobody": (
        'loaders = ["closed"]',
        'loaders = ["closed"]\nrequests.djanog = { path = "/" }',
        """\
error: a.toml:26:10: scenarios.agents.requests.djanog: no server 'djanog' here
   26 | requests.djanog = { path = "/" }
      |          ^^^^^^
hint: did you mean 'django'? servers of this scenario: django, aiohttp
""",
    ),
    "only_nothing": (
        "title =",
        'only = ["agent"]\ntitle =',
        """\
error: a.toml:2:9: only[0]: no scenario 'agent' is declared
    2 | only = ["agent"]
      |         ^^^^^^^
hint: did you mean 'agents'? scenarios: agents
""",
    ),
    "paths_of_vary": (
        "expect =",
        'vary."loaders.closed.conections" = [1]\nvary."servers.*.connections" = [1]\nvary."servers.x.workers" = [2]\nvary."path.size" = [1]\nvary.workers = [1]\nexpect =',
        """\
error: a.toml:27:6: scenarios.agents.vary."loaders.closed.conections": loaders.closed has no option 'conections'
   27 | vary."loaders.closed.conections" = [1]
      |      ^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: did you mean 'connections'? loaders.closed takes: connections, threads, duration, rate
error: a.toml:28:6: scenarios.agents.vary."servers.*.connections": none of its parts has option 'connections'
   28 | vary."servers.*.connections" = [1]
      |      ^^^^^^^^^^^^^^^^^^^^^^^
hint: servers.* takes: app, workers, threads, command, directory, environment, worker_class, limit, ready_within
error: a.toml:29:6: scenarios.agents.vary."servers.x.workers": 'x' is not one of its servers
   29 | vary."servers.x.workers" = [2]
      |      ^^^^^^^^^^^^^^^^^^^
hint: servers of this scenario: django, aiohttp
error: a.toml:30:6: scenarios.agents.vary."path.size": no request of this scenario uses {size}
   30 | vary."path.size" = [1]
      |      ^^^^^^^^^^^
hint: use it: request = { path = "/{size}" }
error: a.toml:31:6: scenarios.agents.vary.workers: not the path of an option
   31 | vary.workers = [1]
      |      ^^^^^^^
hint: write "loaders.LABEL.OPTION", "servers.*.OPTION" or "path.NAME"
""",
    ),
    "values_of_vary": (
        "expect =",
        'vary = { "loaders.closed.connections" = [10, 0, "x"], "servers.*.workers" = [1, 0] }\nexpect =',
        """\
error: a.toml:27:46: scenarios.agents.vary."loaders.closed.connections"[1]: expected more than 0, got 0
   27 | vary = { "loaders.closed.connections" = [10, 0, "x"], "servers.*.workers" = [1, 0] }
      |                                              ^
error: a.toml:27:49: scenarios.agents.vary."loaders.closed.connections"[2]: expected a whole number, got 'x'
   27 | vary = { "loaders.closed.connections" = [10, 0, "x"], "servers.*.workers" = [1, 0] }
      |                                                 ^^^
error: a.toml:27:81: scenarios.agents.vary."servers.*.workers"[1]: expected more than 0, got 0
   27 | vary = { "loaders.closed.connections" = [10, 0, "x"], "servers.*.workers" = [1, 0] }
      |                                                                                 ^
""",
    ),
    "combinations": (
        "expect =",
        'vary = { "loaders.closed.connections" = [1, 10], "loaders.closed.threads" = [1, 4] }\nexpect =',
        """\
error: a.toml:27:1: scenarios.agents.vary: with loaders.closed.connections = 1, loaders.closed.threads = 4: a thread needs a connection
   27 | vary = { "loaders.closed.connections" = [1, 10], "loaders.closed.threads" = [1, 4] }
      | ^^^^
hint: leave it out: exclude = [{ "loaders.closed.connections" = 1, "loaders.closed.threads" = 4 }]
""",
    ),
    "vary_twice_and_never": (
        "expect =",
        'vary = { "loaders.closed.connections" = [1, 1], "loaders.closed.threads" = [] }\nexpect =',
        """\
error: a.toml:27:45: scenarios.agents.vary."loaders.closed.connections"[1]: 1 is listed twice
   27 | vary = { "loaders.closed.connections" = [1, 1], "loaders.closed.threads" = [] }
      |                                             ^
hint: leave one out
error: a.toml:27:49: scenarios.agents.vary."loaders.closed.threads": varies over nothing
   27 | vary = { "loaders.closed.connections" = [1, 1], "loaders.closed.threads" = [] }
      |                                                 ^^^^^^^^^^^^^^^^^^^^^^^^
hint: give at least one value, or leave it out
""",
    ),
    "too_many": (
        "expect =",
        f'vary = {{ "servers.*.workers" = {MANY}, "loaders.closed.connections" = {MANY} }}\nexpect =',
        """\
error: a.toml:27:1: scenarios.agents.vary: 640000 combinations make up to 1280000 cases, more than 1000000
   27 | vary = { "servers.*.workers" = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 2…
      | ^^^^
hint: vary less at a time: split it into several scenarios, or leave values out
""",
    ),
    "exclude_and_include": (
        "expect =",
        'vary = { "loaders.closed.connections" = [1, 2] }\nexclude = [{ "loaders.closed.connections" = 3 }, {}, { x = 1 }]\ninclude = [{ "servers.django.workers" = 0 }]\nexpect =',
        """\
error: a.toml:28:14: scenarios.agents.exclude[0]."loaders.closed.connections": never is 3
   28 | exclude = [{ "loaders.closed.connections" = 3 }, {}, { x = 1 }]
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: it takes: 1, 2
error: a.toml:28:50: scenarios.agents.exclude[1]: excludes everything
   28 | exclude = [{ "loaders.closed.connections" = 3 }, {}, { x = 1 }]
      |                                                  ^
hint: name what varies, and its values
error: a.toml:28:56: scenarios.agents.exclude[2].x: does not vary, so this excludes nothing
   28 | exclude = [{ "loaders.closed.connections" = 3 }, {}, { x = 1 }]
      |                                                        ^
hint: this scenario varies: loaders.closed.connections
error: a.toml:29:14: scenarios.agents.include[0]."servers.django.workers": expected more than 0, got 0
   29 | include = [{ "servers.django.workers" = 0 }]
      |              ^^^^^^^^^^^^^^^^^^^^^^^^
""",
    ),
    "path_variable": (
        'path = "/agents"',
        'path = "/{size}"',
        """\
error: a.toml:23:13: scenarios.agents.request.path: nothing fills {size}
   23 | request = { path = "/{size}" }
      |             ^^^^
hint: vary = { "path.size" = [...] }; a brace itself is %7B
""",
    ),
    "path_value": (
        'path = "/agents" }',
        'path = "/{size}" }\nvary."path.size" = [1, "a b"]',
        """\
error: a.toml:24:24: scenarios.agents.vary."path.size"[1]: a request's path cannot hold 'a b'
   24 | vary."path.size" = [1, "a b"]
      |                        ^^^^^
""",
    ),
    "environment": (
        'use = "postgresql"',
        'use = "postgresql"\nurl = { env = "PGURL" }',
        """\
error: a.toml:6:1: backends.agents.url: the environment has no PGURL
    6 | url = { env = "PGURL" }
      | ^^^
hint: set it: PGURL=... benchforge run
""",
    ),
    "same_label": (
        "[backends.agents]",
        "[backends.django]",
        """\
error: a.toml:8:10: servers.django: backends.django has the same label
    8 | [servers.django]
      |          ^^^^^^
hint: rename one
error: a.toml:26:13: scenarios.agents.backends[0]: no backend 'agents' is declared
   26 | backends = ["agents"]
      |             ^^^^^^^^
hint: declared: django
""",
    ),
    "no_tables": (
        "[repeat]\n",
        '[clients."a.b"]\n[metrics]\ncpu = 1\n[repeat]\nround = "3%"\n',
        """\
error: a.toml:29:10: clients."a.b": not a label
   29 | [clients."a.b"]
      |          ^^^^^
hint: use letters, digits, '_' and '-'
error: a.toml:31:1: metrics.cpu: expected a table
   31 | cpu = 1
      | ^^^
hint: write [metrics.cpu]
error: a.toml:33:1: repeat.round: unknown key
   33 | round = "3%"
      | ^^^^^
hint: this table takes: blocks, until, between, seed, warmup, placebo, interleave, each, bridge, quiet
""",
    ),
    "not_finite": (
        "connections = 64",
        "connections = [1, inf]",
        """\
error: a.toml:19:19: loaders.closed.connections[1]: expected a finite number
   19 | connections = [1, inf]
      |                   ^^^
""",
    ),
    "tabs_and_wide": (
        "workers = 4",
        "\t'日本' = 1",
        """\
error: a.toml:11:2: servers.django.日本: unknown option
   11 | \t'日本' = 1
      | \t^^^^^^
hint: gunicorn takes: app, workers, threads, command, directory, environment, worker_class, limit, ready_within
""",
    ),
}


@pytest.mark.parametrize(("old", "new", "printed"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_says_where_what_and_what_next(
    folder: Folder, old: str, new: str, printed: str
) -> None:
    assert old in SUITE
    assert folder.faults(SUITE.replace(old, new, 1)) == printed


BYTES = {
    "not_utf8": (
        b"benchforge = 1\nname = '\xff'\n",
        (
            "error: a.toml:2:9: not UTF-8: byte 0xff\n"
            "    2 | name = '\N{REPLACEMENT CHARACTER}'\n"
            "      |         ^\n"
            "hint: save the file as UTF-8\n"
        ),
    ),
    "utf16": (
        "benchforge = 1".encode("utf-16"),
        (
            "error: a.toml:1:1: not UTF-8: byte 0xff\n"
            f"    1 | {'�' * 2}{'�'.join('benchforge = 1')}�\n"
            "      | ^\n"
            "hint: save the file as UTF-8\n"
        ),
    ),
    "byte_order_mark": (
        b"\xef\xbb\xbfbenchforge = 1\n",
        (
            "error: a.toml:1:1: the file begins with a byte order mark\n"
            "    1 | benchforge = 1\n"
            "      | ^\n"
            "hint: save it as UTF-8 without one\n"
        ),
    ),
    "nul": (
        b"benchforge = 1\nname = '\0'\n",
        (
            "error: a.toml:2:9: a NUL byte\n"
            "    2 | name = '\N{REPLACEMENT CHARACTER}'\n"
            "      |         ^\n"
            "hint: a suite is a text file in UTF-8\n"
        ),
    ),
    "ends_early": (
        b"benchforge = 1\nname = [1,\n",
        (
            "error: a.toml:2:8: not TOML: an array is not closed\n"
            "    2 | name = [1,\n"
            "      |        ^\n"
            "hint: a ] is missing\n"
        ),
    ),
    "empty": (
        b"",
        (
            "error: a.toml: 'benchforge' is missing\n"
            "hint: write benchforge = 1 as the first line: the format of the suite\n"
            "error: a.toml: no scenario is declared\n"
            "hint: write [scenarios.LABEL]\n"
        ),
    ),
    "too_deep_for_python": (
        b"a = " + b"[" * 5000,
        (
            f"error: a.toml:1:55: nested more than 50 levels deep\n"
            f"    1 | a = {'[' * 96}…\n"
            f"      | {' ' * 54}^\n"
        ),
    ),
    "too_deep": (
        b"a = " + b"[" * 52 + b"]" * 52,
        (
            f"error: a.toml:1:55: nested more than 50 levels deep\n"
            f"    1 | a = {'[' * 52}{']' * 44}…\n"
            f"      | {' ' * 54}^\n"
        ),
    ),
}


@pytest.mark.parametrize(("content", "printed"), BYTES.values(), ids=BYTES.keys())
def test_a_file_that_is_no_suite(folder: Folder, content: bytes, printed: str) -> None:
    assert folder.faults(content) == printed


def test_a_file_that_is_not_there(folder: Folder) -> None:
    folder.load(SUITE)
    for path, printed in {
        "./b.toml": "error: ./b.toml: no such file\nhint: did you mean 'a.toml'?",
        "no/such/z.toml": "error: no/such/z.toml: no such file\n"
        f"hint: benchforge brings: {', '.join(brought())}",
        ".": "error: .: a folder, not a suite\nhint: give one suite, such as a.toml",
    }.items():
        with pytest.raises(SuiteErrors) as caught:
            load(path, folder.registry)
        assert caught.value.text() == printed


def test_the_first_twenty_faults_are_shown_in_the_order_of_the_file(folder: Folder) -> None:
    text = "".join(f"k{number} = {number}\n" for number in range(30)) + SUITE
    lines = folder.faults(text).splitlines()
    assert [line for line in lines if line.startswith("error")] == [
        *(f"error: a.toml:{number + 1}:1: k{number}: unknown key" for number in range(20)),
        "error: and 10 more errors",
    ]


def test_faults_of_all_parts_of_a_file_are_told_at_once(folder: Folder) -> None:
    text = (
        SUITE.replace("workers = 4", "worker = 4")
        .replace("connections = 64", "connections = 0")
        .replace('path = "/agents"', 'path = "agents"')
        .replace('loaders = ["closed"]', 'loaders = ["open"]\nexpected = {}')
        .replace("blocks = 4", "blocks = 0")
    )
    found = [line for line in folder.faults(text).splitlines() if line.startswith("error")]
    assert found == [
        "error: a.toml:11:1: servers.django.worker: unknown option",
        "error: a.toml:19:1: loaders.closed.connections: expected more than 0, got 0",
        (
            "error: a.toml:23:13: scenarios.agents.request.path: "
            "expected a path that begins with '/', in ASCII and without spaces, got 'agents'"
        ),
        "error: a.toml:25:12: scenarios.agents.loaders[0]: no loader 'open' is declared",
        "error: a.toml:26:1: scenarios.agents.expected: unknown key",
        "error: a.toml:31:1: repeat.blocks: expected more than 0, got 0",
    ]


def test_a_suite_is_read_whole(folder: Folder) -> None:
    suite = folder.load(SUITE)

    assert (suite.path, suite.name, suite.title) == (Path("a.toml"), "a", "Two servers")
    assert (suite.profile, suite.smoke, suite.network, suite.only) == (None, False, "private", ())
    assert suite.text == SUITE
    assert suite.servers["django"].part == Web(app="django_agents", workers=4)
    assert suite.servers["django"].options == {"app": "django_agents", "workers": 4}
    assert suite.repeat == Repeat(blocks=4, warmup=Duration(3))
    assert suite.secrets == frozenset()


def test_a_suite_without_metrics_takes_the_standard_set(folder: Folder) -> None:
    metrics = folder.load(SUITE).metrics
    assert list(metrics) == [
        "throughput",
        "errors",
        "rate",
        "latency",
        "cpu",
        "memory",
        "keepalive",
        "transfer",
        "error_rate",
        "all_throughput",
        "lateness",
    ]
    assert metrics["all_throughput"] == Throughput(count="all")

    declared = SUITE + '[metrics.rate]\nuse = "throughput"\n'
    assert folder.load(declared).metrics == {"rate": Throughput()}


def test_a_profile_merges_tables_and_replaces_the_rest(folder: Folder) -> None:
    suite = folder.load(
        SUITE + '[profiles.quick.scenarios.agents]\nservers = ["django"]\n', profile="quick"
    )
    assert suite.repeat == Repeat(blocks=3, warmup=Duration(3))
    assert suite.loaders["closed"].part == Wrk(connections=64, duration=Duration(3))
    assert suite.scenarios["agents"].servers == ("django",)
    assert suite.profile == "quick"


def test_a_fault_of_a_profile_is_shown_on_its_own_line(folder: Folder) -> None:
    assert folder.faults(SUITE, profile="broken") == (
        "error: a.toml:38:1: loaders.closed.duration: expected a duration such as "
        '"30s", "500ms" or a number of seconds, got \'3 s seconds\'\n'
        '   38 | duration = "3 s seconds"\n'
        "      | ^^^^^^^^\n"
    )
    assert folder.faults(SUITE, profile="quik") == (
        "error: --profile quik: a.toml has no profile of that name\n"
        "hint: did you mean 'quick'? profiles: quick, broken\n"
    )


def test_settings_are_toml_or_text(folder: Folder) -> None:
    settings = (
        ("servers.django.workers", "2"),
        ("servers.django.app", "other"),
        ('scenarios.agents.vary."loaders.closed.connections"', "[1, 2]"),
        ("repeat.warmup", "1s"),
        ("title", "1979-05-27"),
    )
    suite = folder.load(SUITE, settings=settings)
    assert suite.servers["django"].part == Web(app="other", workers=2)
    assert suite.scenarios["agents"].vary == {"loaders.closed.connections": [1, 2]}
    assert suite.repeat.warmup == Duration(1)
    assert suite.title == "1979-05-27"
    assert suite.settings == dict(settings)


def test_a_fault_of_a_setting_names_the_setting(folder: Folder) -> None:
    values = [("servers.django.workers", "x"), ("servers.django.environment", "{ A = 1 }")]
    assert folder.faults(SUITE, settings=values) == (
        "error: --set servers.django.workers=x: expected a whole number, got 'x'\n"
        "error: --set servers.django.environment={ A = 1 }: servers.django.environment.A: "
        "expected text, got 1\n"
        'hint: write "1"\n'
    )
    paths = [
        ("servers.djang.workers", "2"),
        ("a b", "2"),
        ("repeat.blocks.x", "1"),
        ("profiles.quick.smoke", "true"),
        ("name", "\udcff"),
        ("repeat.warmup", "inf"),
    ]
    assert folder.faults(SUITE, settings=paths) == (
        "error: --set servers.djang.workers=2: servers.djang is not declared\n"
        "hint: did you mean 'django'? declared: django, aiohttp\n"
        "error: --set a b=2: not a path\n"
        "hint: write --set servers.django.workers=2\n"
        "error: --set repeat.blocks.x=1: 'blocks' is not a table\n"
        "hint: a path is made of the keys of tables\n"
        "error: --set profiles.quick.smoke=true: a profile cannot be set with --set\n"
        "hint: set the option that it sets, or edit the suite\n"
        "error: --set name=\udcff: not UTF-8\n"
        "hint: give it as UTF-8\n"
        "error: --set repeat.warmup=inf: expected a finite number\n"
    )


SECOND = SUITE + '[scenarios.second]\nservers = ["django"]\nloaders = ["closed"]\n'


def test_only_chooses_scenarios_and_the_command_line_comes_first(folder: Folder) -> None:
    text = SECOND.replace("title", 'only = ["second"]\ntitle', 1)
    assert list(folder.load(SECOND).scenarios) == ["agents", "second"]
    assert list(folder.load(text).scenarios) == ["second"]
    assert list(folder.load(text, only=["agents"]).scenarios) == ["agents"]
    assert folder.faults(text, only=["agent"]) == (
        "error: --only agent: no such scenario\n"
        "hint: did you mean 'agents'? scenarios: agents, second\n"
    )


def test_values_come_from_the_environment_and_are_secret(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGURL", "postgresql://me:p%40ssword@db/x")
    text = SUITE.replace(
        "settings =", 'url = { env = "PGURL" }\npassword = "literal \\"one\\""\nsettings ='
    ).replace("workers = 4", 'environment = { env = "kept", TOKEN = { env = "PGURL" } }')
    suite = folder.load(text)

    assert suite.backends["agents"].part.url == "postgresql://me:p%40ssword@db/x"  # type: ignore[attr-defined]
    assert suite.servers["django"].options["environment"] == {
        "env": "kept",
        "TOKEN": "postgresql://me:p%40ssword@db/x",
    }
    assert suite.secrets == {
        "postgresql://me:p%40ssword@db/x",
        "p%40ssword",
        "p@ssword",
        'literal "one"',
    }
    assert "literal" not in redact(suite.text, suite.secrets)
    assert 'environment = { env = "kept"' in redact(suite.text, suite.secrets)


def test_an_option_that_takes_any_table_is_not_asked_of_the_environment(folder: Folder) -> None:
    suite = folder.load(SUITE.replace("workers = 4", 'environment = { env = "PGURL" }'))
    assert suite.servers["django"].options["environment"] == {"env": "PGURL"}


@pytest.mark.parametrize("given", ["geheimes", "both ' and \"", "\x01\n\x02\n\x03\n\x04\n"])
def test_an_error_does_not_show_what_the_environment_holds(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("PGURL", given)
    printed = folder.faults(SUITE.replace("workers = 4", 'workers = { env = "PGURL" }'))
    assert printed == (
        "error: a.toml:11:1: servers.django.workers: expected a whole number, got '***'\n"
        '   11 | workers = { env = "PGURL" }\n'
        "      | ^^^^^^^\n"
    )


@pytest.mark.parametrize("value", ["geheim-" * 20, "a'b\"c" * 40, "geheim\n" * 20])
def test_an_error_does_not_show_the_beginning_of_a_long_secret(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("PGURL", value)
    printed = folder.faults(SUITE.replace("workers = 4", 'workers = { env = "PGURL" }'))
    assert printed.startswith(
        "error: a.toml:11:1: servers.django.workers: expected a whole number, got '***...\n"
    )


def test_a_long_value_that_is_no_secret_is_shown_as_far_as_it_goes(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGURL", "xxxx and another one")
    told = SUITE.replace(
        "workers = 4", f'environment = {{ env = "PGURL" }}\nworkers = "{"x" * 80}"'
    )
    assert f"expected a whole number, got '{'x' * 59}...\n" in folder.faults(told)


def test_the_longest_secret_is_hidden_first_in_each_of_its_forms() -> None:
    assert redact('a=p, b=p@ss, c=p%40ss, d="x\\"y" ü', ["p@ss", "p", "", 'x"y', "ü"]) == (
        'a=***, b=***, c=***, d="***" ***'
    )
    assert redact("nothing", []) == "nothing"


def test_cases_come_by_point_driver_server(folder: Folder) -> None:
    text = SUITE.replace(
        "expect =",
        """\
clients = ["requests"]
vary = { "loaders.closed.connections" = [10, 50], "servers.django.workers" = [1, 2] }
exclude = [{ "loaders.closed.connections" = 50, "servers.django.workers" = 2 }]
include = [{ "loaders.*.connections" = 99 }]
expect =""",
    ).replace("[repeat]", '[clients.requests]\nuse = "requests"\n[repeat]')
    cases = list(expand(folder.load(text)))

    assert [case.name.title for case in cases] == [
        "agents · django · closed · connections=10 · workers=1",
        "agents · aiohttp · closed · connections=10",
        "agents · django · requests · workers=1",
        "agents · aiohttp · requests",
        "agents · django · closed · connections=10 · workers=2",
        "agents · django · requests · workers=2",
        "agents · django · closed · connections=50 · workers=1",
        "agents · aiohttp · closed · connections=50",
        "agents · django · closed · connections=99",
        "agents · aiohttp · closed · connections=99",
        "agents · django · requests",
    ]
    assert cases[0].server == Web(app="django_agents", workers=1)
    assert cases[0].driver == Wrk(connections=10, duration=Duration(10))
    assert [label for label, _ in cases[0].backends] == ["agents"]
    assert cases[0].warm_up_s == 3
    assert cases[0].declared_s == 13
    assert cases[-1].server == Web(app="django_agents", workers=4)
    assert len(cases[0].metrics) == 11


def test_path_variables_are_filled_into_each_request_that_uses_them(folder: Folder) -> None:
    text = SUITE.replace(
        'request = { path = "/agents" }',
        """\
request = { path = "/length/{size}?again={size}" }
requests.aiohttp = { path = "/fixed" }
metrics = ["throughput"]
vary = { "path.size" = [1, 20] }""",
    )
    cases = list(expand(folder.load(text)))
    assert [(case.name.server, case.request.path, case.name.vary) for case in cases] == [
        ("django", "/length/1?again=1", {"path.size": 1}),
        ("aiohttp", "/fixed", {}),
        ("django", "/length/20?again=20", {"path.size": 20}),
    ]
    assert cases[0].metrics == ("throughput",)


def test_a_digest_is_of_what_is_measured_and_labels_are_not(folder: Folder) -> None:
    def digests(text: str) -> list[str]:
        return [case.name.digest for case in expand(folder.load(text))]

    first = digests(SUITE)
    assert len(set(first)) == 2
    assert all(len(digest) == 16 for digest in first)
    assert digests(SUITE.replace("django]", "d]").replace('"django"', '"d"')) == first
    assert digests(SUITE.replace('duration = "10s"', "duration = 10")) == first
    for old, new in {
        "workers = 4": "workers = 5",
        '"/agents"': '"/agent"',
        "status = 200": "status = 201",
        'warmup = "3s"': 'warmup = "4s"',
        "fsync = false": "fsync = true",
        "connections = 64": "connections = 65",
        "django_agents": "django_other",
    }.items():
        assert digests(SUITE.replace(old, new, 1))[0] != first[0], old


def test_the_same_server_under_two_labels_is_the_second_arm_of_a_case(folder: Folder) -> None:
    again = '[servers.again]\nuse = "gunicorn"\napp = "django_agents"\nworkers = 4\n'
    text = SUITE.replace('"aiohttp"]', '"aiohttp", "again"]') + again
    cases = {case.name.server: case.name for case in expand(folder.load(text))}
    assert cases["again"].digest == cases["django"].digest
    assert {label: name.arm for label, name in cases.items()} == {
        "django": 1,
        "aiohttp": 1,
        "again": 2,
    }


def test_a_broken_plugin_is_told_where_it_is_asked_for(folder: Folder) -> None:
    class Odd(Wrk):
        name: ClassVar[str] = "odd"
        kind = "server"

    folder.registry.register(Odd)
    assert folder.faults(SUITE.replace('use = "gunicorn"', 'use = "odd"', 1)) == (
        f"error: a.toml:9:1: servers.django.use: plugin Odd ({__name__}): "
        "Odd is no server: subclass Server\n"
        '    9 | use = "odd"\n'
        "      | ^^^\n"
        "hint: see: benchforge plugins check odd\n"
    )


def test_a_suite_of_2000_lines_loads_in_a_moment(folder: Folder) -> None:
    servers = "".join(
        f'[servers.s{number}]\nuse = "gunicorn"\napp = "a"\nworkers = {number + 1}\n\n'
        for number in range(400)
    )
    labels = json.dumps([f"s{number}" for number in range(400)])
    text = SUITE.replace('["django", "aiohttp"]', labels) + servers
    began = time.perf_counter()
    suite = folder.load(text)
    loaded = time.perf_counter()
    assert len(list(expand(suite))) == 400
    ended = time.perf_counter()
    print(f"load {loaded - began:.3f} s, expand {ended - loaded:.3f} s")  # noqa: T201
