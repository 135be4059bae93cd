"""Servers that stand before others: names, circles, what varies, and real trials through nginx."""
# ruff: noqa: E501 - output stands here as it is printed

from pathlib import Path
from typing import ClassVar, Literal

import pytest
from front_door import Bench, answering, needed, needed_module
from measured.case import cases, trial_of
from present import present
from suite_texts.files import suite_text

from benchforge.model.trial.trial import Trial
from benchforge.parts.command import Command
from benchforge.parts.part import Server
from benchforge.parts.registry import Registry
from benchforge.parts.site import Accepts, Probe, Site, Succeeds
from benchforge.suite.toml.faults import SuiteErrors

WSGI = """
import time

def app(environ, start_response):
    time.sleep(0.003)  # a load then leaves the CPUs to other tests
    text = (environ["REQUEST_METHOD"] + " " + environ["PATH_INFO"]).encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(text)))])
    return [text]
"""
DIES = """    seen.append(1)
    if len(seen) == 50 and not os.path.exists(died):
        open(died, 'x').close()
        os._exit(1)
    text"""


class Mute(Server):
    """A program that listens nowhere, though it may be expected to."""

    name: ClassVar[str] = "mute"
    expected: Literal["socket", "port", "nothing"] = "nothing"

    def behind_proxy_only(self) -> bool:
        return True

    def ready(self, site: Site) -> Probe:
        if self.expected == "nothing":
            return Succeeds(Command("true"))
        return Accepts(site.scratch / "s") if self.expected == "socket" else Accepts()

    def command(self, site: Site) -> Command:
        return Command(site.python, "-c", "import time; time.sleep(60)")

    def gives(self, site: Site) -> dict[str, str]:
        return {}


def registry() -> Registry:
    actual = Registry()
    actual.register(Mute)
    return actual


LOAD = suite_text("plugins/servers/upstream")
GUNICORN = 'use = "gunicorn"\napp = "hello:app"\nworkers = 1'
OVER_UNIX = f'{GUNICORN}\nlisten = "unix"'
OVER_UWSGI = 'use = "uwsgi"\napp = "hello:app"\nprocesses = 1\nprotocol = "uwsgi"'


@pytest.fixture(autouse=True)
def app(tmp_path: Path) -> None:
    needed("nginx")
    needed_module("gunicorn")
    (tmp_path / "hello.py").write_text(WSGI)


def suite(folder: Path, servers: dict[str, str], scenario: str) -> Path:
    tables = "".join(f"[servers.{label}]\n{text}\n\n" for label, text in servers.items())
    path = folder / "small.toml"
    path.write_text(f"benchforge = 1\n{tables}{LOAD}{scenario}\n")
    return path


def faults(folder: Path, servers: dict[str, str], scenario: str) -> str:
    with pytest.raises(SuiteErrors) as caught:
        cases(suite(folder, servers, scenario), registry())
    return str(caught.value.text())


def front(upstream: str, more: str = "") -> str:
    return f'use = "nginx"\nupstream = "{upstream}"\n{more}'


def measured(folder: Path, servers: dict[str, str]) -> Trial:
    (case,) = cases(suite(folder, servers, 'servers = ["front"]'), registry())
    return trial_of(case, folder)


def failure(trial: Trial) -> tuple[str, str]:
    return present(trial.failure).stage, present(trial.failure).message


# --- what a suite says ---------------------------------------------------------------------------


def test_a_faulty_upstream_has_its_own_complaint_only(tmp_path: Path) -> None:
    servers = {"flask": GUNICORN + "\nworker = 2", "front": front("flask")}
    actual = faults(tmp_path, servers, 'servers = ["front"]')
    assert actual.count("error: ") == 1
    assert "servers.flask.worker: unknown option" in actual


def test_what_varies_may_lead_astray_too(tmp_path: Path) -> None:
    servers = {"one": GUNICORN, "front": front("one")}
    scenario = 'servers = ["front"]\nvary = { "servers.front.upstream" = ["one", "oen", "front"] }'
    actual = faults(tmp_path, servers, scenario)
    assert actual.count("error: ") == 2
    assert "[1]: servers.front: no server 'oen' is declared" in actual
    assert "[2]: servers.front: stands before itself: front → front" in actual


def test_a_server_that_only_a_proxy_reaches_is_no_scenarios_own(tmp_path: Path) -> None:
    servers = {"app": GUNICORN, "front": front("app")}
    assert len(cases(suite(tmp_path, servers, 'servers = ["front", "app"]'), registry())) == 2
    varied = 'servers = ["app"]\nvary = { "servers.app.listen" = ["tcp", "unix"] }'
    actual = faults(tmp_path, servers, varied)
    assert "does not speak HTTP over TCP with servers.app.listen = 'unix'" in actual


def test_what_stands_behind_varies_by_name_and_by_star(tmp_path: Path) -> None:
    servers = {"flask": GUNICORN, "inner": front("flask"), "front": front("inner")}
    scenario = 'servers = ["front"]\nvary = { "servers.flask.workers" = [1, 2], "servers.*.backlog" = [8, 9] }'
    actual = cases(suite(tmp_path, servers, scenario))
    assert [list(dict(case.upstreams)) for case in actual] == [["flask", "inner"]] * 4
    parts = [[*dict(case.upstreams).values(), case.server] for case in actual]
    options = [[part.model_dump() for part in chain] for chain in parts]
    backlogs = [{part["backlog"] for part in chain} for chain in options]
    workers = [chain[0]["workers"] for chain in options]
    assert (workers, backlogs) == ([1, 1, 2, 2], [{8}, {9}, {8}, {9}])
    assert actual[0].name.vary == {"servers.flask.workers": 1, "servers.*.backlog": 8}
    wrong = scenario.replace("[1, 2]", "[1, 0]")
    assert '"servers.flask.workers"[1]: ' in faults(tmp_path, servers, wrong)
    other = scenario.replace("servers.flask.workers", "servers.flsk.workers")
    assert "did you mean 'flask'?" in faults(tmp_path, servers, other)


def test_what_is_behind_makes_a_case_and_its_label_does_not(tmp_path: Path) -> None:
    other = GUNICORN.replace("workers = 1", "workers = 2")
    servers = {"one": GUNICORN, "same": GUNICORN, "other": other}
    servers |= {"a": front("one"), "b": front("same"), "c": front("other"), "d": front("a")}
    actual = cases(suite(tmp_path, servers, 'servers = ["a", "b", "c", "d"]'))
    a, b, c, d = (case.name for case in actual)
    assert (a.digest, a.arm) == (b.digest, 1)
    assert b.arm == 2
    assert len({a.digest, c.digest, d.digest}) == 3


# --- real trials ---------------------------------------------------------------------------------


def test_a_proxy_before_gunicorn_over_tcp(tmp_path: Path) -> None:
    trial = measured(tmp_path, {"flask": GUNICORN, "front": front("flask")})
    assert trial.measured, trial.failure
    observation = present(trial.observation)
    labels = {"upstream-flask": "upstream", "server-front": "server", "loader-load": "loader"}
    assert {usage.label: usage.role for usage in observation.usage} == labels
    assert all(usage.cpu_s for usage in observation.usage if usage.role != "loader")
    says = "the server's own connections to flask are counted too"
    assert observation.foreign_connections == says
    assert [answer.length for answer in trial.answers] == [len("GET /a")] * 2
    assert {process.label for process in trial.processes} >= {"upstream-flask", "server-front"}
    assert (tmp_path / "trial/upstream-flask.err").exists()


@pytest.mark.samples(1)
@pytest.mark.parametrize("hidden", [OVER_UNIX, f'{OVER_UWSGI}\nlisten = "unix"', OVER_UWSGI])
def test_a_proxy_before_what_only_it_can_reach(tmp_path: Path, hidden: str) -> None:
    needed_module("pyuwsgi")
    trial = measured(tmp_path, {"app": hidden, "front": front("app")})
    assert trial.measured, trial.failure
    reading, observation = present(trial.reading), present(trial.observation)
    assert reading.good == reading.responses
    assert [answer.length for answer in trial.answers] == [len("GET /a")] * 2
    # Over unix sockets the network's counters hold the load tool's connections alone.
    assert bool(observation.foreign_connections) == (hidden == OVER_UWSGI)
    if hidden != OVER_UWSGI:
        expected = 2 + reading.test_connections + reading.responses // 1000
        assert observation.counters["TcpPassiveOpens"] == pytest.approx(expected, abs=2)


def test_a_chain_starts_from_its_end_and_is_kept_apart(tmp_path: Path) -> None:
    inner, outer = front("flask", "tls = true"), front("inner", "upstream_keepalive = 4")
    servers = {"front": outer, "inner": inner, "flask": GUNICORN}
    trial = measured(tmp_path, servers)
    assert trial.measured, trial.failure
    services = [process.label for process in trial.processes if "loader" not in process.label]
    assert services == ["upstream-flask", "upstream-inner", "server-front"]
    assert "proxy_pass https://" in (tmp_path / "trial/nginx-front.conf").read_text()
    assert "proxy_pass http://" in (tmp_path / "trial/nginx-inner.conf").read_text()


def test_an_upstream_that_does_not_start_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import no_such_module\napp = no_such_module.app\n")
    broken = GUNICORN.replace("hello:app", "broken:app")
    stage, actual = failure(measured(tmp_path, {"flask": broken, "front": front("flask")}))
    assert stage == "start"
    says = "flask: ended with exit code 3 before it was ready: ModuleNotFoundError"
    assert actual.startswith(says)


def test_an_upstream_that_answers_wrongly_is_named(tmp_path: Path) -> None:
    servers = {"app": answering("--status", "500"), "front": front("app")}
    says = "app: GET /a: expected status 200, got 500: 'pong'"
    assert failure(measured(tmp_path, servers)) == ("ask", says)


def test_an_upstream_that_never_accepts_is_told(tmp_path: Path) -> None:
    for expected in ("socket", "port"):
        app = f'use = "mute"\nexpected = "{expected}"\nready_within = "300ms"'
        (folder := tmp_path / expected).mkdir()
        stage, actual = failure(measured(folder, {"app": app, "front": front("app")}))
        assert stage == "start"
        assert actual.startswith("app: not ready within 0.3 s: ")


def test_an_upstream_that_gives_nothing_is_told(tmp_path: Path) -> None:
    servers = {"app": 'use = "mute"', "front": front("app")}
    says = "servers.front: app: it gives neither url, socket nor uwsgi"
    assert failure(measured(tmp_path, servers)) == ("start", says)


def test_an_upstream_that_dies_under_load_is_named(tmp_path: Path) -> None:
    servers = {"app": answering("--die-after", "60"), "front": front("app")}
    says = "app: ended with exit code 3 during the load"
    assert failure(measured(tmp_path, servers)) == ("drive", says)


def test_a_proxy_that_loses_its_workers_upstream_answers_502(tmp_path: Path) -> None:
    """Gunicorn's master lives on without its worker for a moment: that is behaviour, measured.

    Only the first worker dies: by the end of the load another one answers.
    """
    servers = {"flask": GUNICORN.replace("hello:app", "dying:app"), "front": front("flask")}
    dying = f"import os\nseen, died = [], __file__ + '.died'\n{WSGI.replace('    text', DIES, 1)}"
    for seconds in ("1s", "5s", "30s"):  # a loud machine takes longer to start another worker
        (folder := tmp_path / seconds).mkdir()
        (folder / "dying.py").write_text(dying)
        path = suite(folder, servers, 'servers = ["front"]')
        path.write_text(path.read_text().replace('"0.4s"', f'"{seconds}"'))
        (case,) = cases(path, registry())
        trial = trial_of(case, folder)
        if trial.measured:
            break
    assert trial.measured, trial.failure
    reading = present(trial.reading)
    assert reading.errors["status"] > 0
    assert present(reading.good) > 0


def test_by_the_command_it_is_reported_apart(bench: Bench, tmp_path: Path) -> None:
    needed("wrk")
    servers = {"flask": GUNICORN, "front": front("flask", "tls = true")}
    path = suite(tmp_path, servers, 'servers = ["front"]')
    # It is believed: wrk is never what is slow.
    text = path.read_text().replace('use = "pace"', 'use = "wrk"').replace('"0.4s"', '"1s"')
    path.write_text(text)
    result = bench("run", path, code=0).result
    text = (result / "report.md").read_text()
    assert "cpu upstream" in text
    assert "memory upstream" in text
    assert "keepalive: the server's own connections to flask are counted too" in text
    header = (result / "result.json").read_text()
    assert '"server-gunicorn": "gunicorn' in header
    assert '"server-nginx": "nginx version: nginx/' in header
