"""A suite is read once: what is in it, what is laid over it, and the cases that it makes."""

from pathlib import Path
from typing import ClassVar

import pytest
from benchforge_loaders.wrk.wrk import Wrk
from benchforge_metrics.throughput import Throughput
from benchforge_servers.wsgi.gunicorn import Gunicorn
from suite_texts.files import suite_text

from benchforge.model.values.units import Duration
from benchforge.parts.registry import Registry
from benchforge.suite.cases.expand import expand
from benchforge.suite.load import load
from benchforge.suite.secrets import redact
from benchforge.suite.suite import Repeat, Suite
from benchforge.suite.toml.built_in import brought
from benchforge.suite.toml.faults import SuiteErrors

SUITE = suite_text("suite/suite")


class Folder:
    """A folder that holds one suite."""

    def __init__(self) -> None:
        self.registry = Registry()

    def load(self, text: str | bytes, **options: object) -> Suite:
        Path("a.toml").write_bytes(text.encode() if isinstance(text, str) else text)
        return load("a.toml", self.registry, **options)  # type: ignore[arg-type]

    def faults(self, text: str | bytes, **options: object) -> str:
        with pytest.raises(SuiteErrors) as caught:
            self.load(text, **options)
        assert f"error: {caught.value}" == caught.value.text()
        assert caught.value.exit_code == 2
        return caught.value.text() + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PGURL", raising=False)
    return Folder()


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


def test_a_suite_is_read_whole(folder: Folder) -> None:
    suite = folder.load(SUITE)

    assert (suite.path, suite.name, suite.title) == (Path("a.toml"), "a", "Two servers")
    assert (suite.profile, suite.smoke, suite.network, suite.only) == (None, False, "private", ())
    assert suite.text == SUITE
    assert suite.servers["django"].part == Gunicorn(app="django_agents", workers=4)
    assert suite.servers["django"].options == {"app": "django_agents", "workers": 4}
    assert (suite.repeat, suite.secrets) == (
        Repeat(blocks=4, warmup=Duration(3)),
        frozenset(),
    )


def test_a_suite_without_metrics_takes_the_standard_set(folder: Folder) -> None:
    metrics = folder.load(SUITE).metrics
    assert list(metrics) == [
        *("throughput", "errors", "rate", "latency", "cpu", "memory", "keepalive"),
        *("transfer", "error_rate", "all_throughput", "lateness"),
    ]
    assert metrics["all_throughput"] == Throughput(count="all")

    declared = SUITE + '[metrics.rate]\nuse = "throughput"\n'
    assert folder.load(declared).metrics == {"rate": Throughput()}


def test_a_profile_merges_tables_and_replaces_the_rest(folder: Folder) -> None:
    changed = SUITE + '[profiles.quick.scenarios.agents]\nservers = ["django"]\n'
    suite = folder.load(changed, profile="quick")
    assert suite.repeat == Repeat(blocks=3, warmup=Duration(3))
    assert suite.loaders["closed"].part == Wrk(connections=64, duration=Duration(3))
    assert suite.scenarios["agents"].servers == ("django",)
    assert suite.profile == "quick"


def test_settings_are_toml_or_text(folder: Folder) -> None:
    settings = (
        ("servers.django.workers", "2"),
        ("servers.django.app", "flask_agents"),
        ('scenarios.agents.vary."loaders.closed.connections"', "[1, 2]"),
        ("repeat.warmup", "1s"),
        ("title", "1979-05-27"),
    )
    suite = folder.load(SUITE, settings=settings)
    assert suite.servers["django"].part == Gunicorn(app="flask_agents", workers=2)
    assert suite.scenarios["agents"].vary == {"loaders.closed.connections": [1, 2]}
    assert suite.repeat.warmup == Duration(1)
    assert (suite.title, suite.settings) == ("1979-05-27", dict(settings))


def test_a_fault_of_a_setting_names_the_setting(folder: Folder) -> None:
    values = [("servers.django.environment", "{ A = 1 }")]
    path = "error: --set servers.django.environment={ A = 1 }: servers.django.environment.A: "
    assert folder.faults(SUITE, settings=values) == f'{path}expected text, got 1\nhint: write "1"\n'
    paths = [("a b", "2"), ("name", "\udcff"), ("repeat.warmup", "inf")]
    assert (
        folder.faults(SUITE, settings=paths)
        == """\
error: --set a b=2: not a path
hint: write --set servers.django.workers=2
error: --set name=\\udcff: not UTF-8
hint: give it as UTF-8
error: --set repeat.warmup=inf: expected a finite number
"""
    )


SECOND = SUITE + '[scenarios.second]\nservers = ["django"]\nloaders = ["closed"]\n'


def test_only_chooses_scenarios_and_the_command_line_comes_first(folder: Folder) -> None:
    text = SECOND.replace("title", 'only = ["second"]\ntitle', 1)
    assert list(folder.load(SECOND).scenarios) == ["agents", "second"]
    assert list(folder.load(text).scenarios) == ["second"]
    assert list(folder.load(text, only=["agents"]).scenarios) == ["agents"]


def test_environment_values_are_secret(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://me:p%40ssword@db/x"
    monkeypatch.setenv("PGURL", url)
    more = 'password = "literal \\"one\\""\nsettings ='
    environment = 'environment = { env = "kept", TOKEN = { env = "PGURL" } }'
    suite = folder.load(SUITE.replace("settings =", more).replace("workers = 4", environment))

    assert suite.servers["django"].options["environment"] == {"env": "kept", "TOKEN": url}
    assert suite.secrets == {url, "p%40ssword", "p@ssword", 'literal "one"'}
    assert "literal" not in redact(suite.text, suite.secrets)
    assert 'environment = { env = "kept"' in redact(suite.text, suite.secrets)


def test_an_option_that_takes_any_table_is_not_asked_of_the_environment(folder: Folder) -> None:
    suite = folder.load(SUITE.replace("workers = 4", 'environment = { env = "PGURL" }'))
    assert suite.servers["django"].options["environment"] == {"env": "PGURL"}


SECRET = SUITE.replace("workers = 4", 'workers = { env = "PGURL" }')
WORKERS = "error: a.toml:11:1: servers.django.workers: expected a whole number, got '"


@pytest.mark.parametrize("value", ["geheimes", "both ' and \"", "\x01\n\x02\n\x03\n\x04\n"])
def test_errors_hide_a_secret(folder: Folder, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PGURL", value)
    excerpt = '   11 | workers = { env = "PGURL" }\n      | ^^^^^^^\n'
    assert folder.faults(SECRET) == f"{WORKERS}***'\n{excerpt}"


@pytest.mark.parametrize("value", ["geheim-" * 20, "a'b\"c" * 40, "geheim\n" * 20])
def test_no_part_of_a_secret(folder: Folder, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PGURL", value)
    assert folder.faults(SECRET).startswith(f"{WORKERS}***...\n")


def test_a_long_value_is_shortened(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGURL", "xxxx and another one")
    new = f'environment = {{ env = "PGURL" }}\nworkers = "{"x" * 80}"'
    printed = folder.faults(SUITE.replace("workers = 4", new))
    assert f"expected a whole number, got '{'x' * 59}...\n" in printed


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
        "agents · flask · closed · connections=10",
        "agents · django · requests · workers=1",
        "agents · flask · requests",
        "agents · django · closed · connections=10 · workers=2",
        "agents · django · requests · workers=2",
        "agents · django · closed · connections=50 · workers=1",
        "agents · flask · closed · connections=50",
        "agents · django · closed · connections=99",
        "agents · flask · closed · connections=99",
        "agents · django · requests",
    ]
    assert cases[0].server == Gunicorn(app="django_agents", workers=1)
    assert cases[0].driver == Wrk(connections=10, duration=Duration(10))
    assert [label for label, _ in cases[0].backends] == ["agents"]
    assert (cases[0].warm_up_s, cases[0].declared_s) == (3, 13)
    assert cases[-1].server == Gunicorn(app="django_agents", workers=4)
    assert len(cases[0].metrics) == 11


def test_path_variables_are_filled_into_each_request_that_uses_them(folder: Folder) -> None:
    text = SUITE.replace(
        'request = { path = "/agents" }',
        """\
request = { path = "/length/{size}?again={size}" }
requests.flask = { path = "/fixed" }
metrics = ["throughput"]
vary = { "path.size" = [1, 20] }""",
    )
    cases = list(expand(folder.load(text)))
    assert [(case.name.server, case.request.path, case.name.vary) for case in cases] == [
        ("django", "/length/1?again=1", {"path.size": 1}),
        ("flask", "/fixed", {}),
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
        "django_agents": "flask_agents",
    }.items():
        assert digests(SUITE.replace(old, new, 1))[0] != first[0], old


def test_the_same_server_under_two_labels_is_the_second_arm_of_a_case(folder: Folder) -> None:
    again = '[servers.again]\nuse = "gunicorn"\napp = "django_agents"\nworkers = 4\n'
    text = SUITE.replace('"flask"]', '"flask", "again"]') + again
    cases = {case.name.server: case.name for case in expand(folder.load(text))}
    assert cases["again"].digest == cases["django"].digest
    assert {name: case.arm for name, case in cases.items()} == {
        "django": 1,
        "flask": 1,
        "again": 2,
    }


def test_a_broken_plugin_is_told_where_it_is_asked_for(folder: Folder) -> None:
    class Odd(Wrk):
        name: ClassVar[str] = "odd"
        kind = "server"

    folder.registry.register(Odd)
    excerpt = '    9 | use = "odd"\n      | ^^^\nhint: see: benchforge plugins check odd\n'
    assert folder.faults(SUITE.replace('use = "gunicorn"', 'use = "odd"', 1)) == (
        f"error: a.toml:9:1: servers.django.use: plugin Odd ({__name__}): "
        f"Odd is no server: subclass Server\n{excerpt}"
    )
