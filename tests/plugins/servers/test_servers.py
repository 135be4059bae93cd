"""Servers, started in a trial's place: right answers, clear faults, and nothing left after them."""

import dataclasses
import socket
import subprocess
import sys
from pathlib import Path

import benchforge_servers
import pytest
from benchforge_servers.custom.command import CommandServer
from benchforge_servers.custom.url import Url
from benchforge_servers.libraries import AiohttpServer, Gevent, ThreadsServer, TornadoServer
from benchforge_servers.wsgi.gunicorn import Gunicorn
from front_door import PROGRAMS
from present import present
from serving.in_trial import accepts, get, serving

from benchforge.errors import BenchforgeError
from benchforge.parts.site import Site
from benchforge.run.programs.needed import no_site
from benchforge.run.sandbox.host import LocalHost

HOST = LocalHost()


def test_gunicorn_is_told_everything(site: Site) -> None:
    options = {"app": "flask_agents", "workers": 3, "threads": 4, "worker_class": "gthread"}
    more = {"keep_alive": "1m", "backlog": 9, "arguments": ["--timeout=0"]}
    command = present(Gunicorn.model_validate(options | more).command(site))
    plugin = Path(benchforge_servers.__file__).parent
    assert list(command.argv) == [
        *(sys.executable, str(plugin / "runners/gunicorn_main.py")),
        *("--bind=127.0.0.1:8000", "--workers=3", "--threads=4", "--worker-class=gthread"),
        *("--backlog=9", "--keep-alive=60", f"--chdir={plugin / 'apps/flask_agents'}"),
        *("--log-level=warning", "--timeout=0", "app:app"),
    ]


# --- apps of the user's own ----------------------------------------------------------------------


def test_without_a_directory_an_app_is_in_the_suites_folder(site: Site) -> None:
    code = "import os\ndef app(_, start):\n  start('200 OK', [])\n  return [os.getcwd().encode()]\n"
    (site.suite_folder / "mine.py").write_text(code)
    part = Gunicorn.model_validate({"app": "mine:app"})
    with HOST.trial(site.folder) as sandbox, serving(sandbox, part, site) as (_, placed):
        assert get(sandbox, placed.port) == (200, str(site.suite_folder))


def test_the_fingerprint_is_of_the_code_and_of_nothing_else(site: Site) -> None:
    part = Gunicorn.model_validate({"app": "mine:app", "directory": "mine"})
    same = Gunicorn.model_validate({"app": "mine:app", "directory": "mine", "workers": 9})
    code = site.suite_folder / "mine/deep/code.py"
    code.parent.mkdir(parents=True)
    code.write_text("a = 1")
    first = part.fingerprint(site.suite_folder)
    assert len(first) == 16
    (code.parent / "__pycache__").mkdir()
    (code.parent / "__pycache__/code.py").write_text("made")
    (code.parent / "notes.txt").write_text("no code")
    assert part.fingerprint(site.suite_folder) == same.fingerprint(site.suite_folder) == first
    code.write_text("a = 2")
    assert part.fingerprint(site.suite_folder) != first
    worker = "aiohttp.GunicornWebWorker"
    built_in = [Gunicorn(app="django_agents"), Gunicorn(app="flask_agents", threads=2)]
    aiohttp = [
        Gunicorn(app="aiohttp_agents", worker_class=worker),
        AiohttpServer(app="aiohttp_agents"),
    ]
    first, second, third, fourth = (part.fingerprint(Path()) for part in [*built_in, *aiohttp])
    assert len({first, second, third}) == 3
    assert third == fourth


# --- any command ---------------------------------------------------------------------------------


def test_a_command_is_filled_in_and_serves(site: Site) -> None:
    words = [sys.executable, str(PROGRAMS / "processes/serves.py"), "{port}"]
    part = CommandServer.model_validate({"command": [*words, "{{{backends.db.url}}}"]})
    site = dataclasses.replace(site, backends={"db": {"url": "x://", "DATABASE_URL": "y://"}})
    with HOST.trial(site.folder) as sandbox:
        with serving(sandbox, part, site) as (server, placed), sandbox.socket() as inside:
            inside.connect(("127.0.0.1", placed.port))
            assert inside.recv(100) == b"{x://}"
        assert sandbox.processes(server) == []


def test_a_command_is_told_where_and_with_what(site: Site) -> None:
    part = CommandServer.model_validate(
        {
            "command": ["./server", "--at={address}:{port}", "{url}"],
            "environment": {"DB": "{backends.db.url}/x", "PLAIN": "{{}}"},
            "directory": "below",
        }
    )
    site = dataclasses.replace(site, backends={"db": {"url": "x://", "DATABASE_URL": "y://"}})
    command = present(part.command(site))
    program = str(site.suite_folder / "./server")
    assert command.argv == (program, "--at=127.0.0.1:8000", "http://127.0.0.1:8000")
    assert command.environment == {"DATABASE_URL": "y://", "DB": "x:///x", "PLAIN": "{}"}
    assert command.folder == site.suite_folder / "below"
    assert [need.name for need in part.needs()] == ["./server"]


def test_a_text_is_a_command_too_and_python_is_that_of_the_runtime(site: Site) -> None:
    site = dataclasses.replace(site, python=Path("/env/bin/python"))
    mine_ = CommandServer.model_validate({"command": "{python} -m 'my app' {port}"})
    assert mine_.starts_python()
    command = present(mine_.command(site))
    assert command.argv == ("/env/bin/python", "-m", "my app", "8000")
    assert "PATH" not in command.environment
    words = {"command": ["gunicorn", "app:app"], "runtime": "mine", "port": 80}
    mine = CommandServer.model_validate(words)
    assert mine.starts_python()
    assert list(mine.needs()) == []
    assert mine.fixed_ports() == {"http": 80}
    assert present(mine.command(site)).environment["PATH"].startswith("/env/bin:")
    assert not CommandServer.model_validate({"command": "caddy run"}).starts_python()


def test_a_program_by_its_name_is_a_need(site: Site) -> None:
    part = CommandServer.model_validate({"command": ["caddy", "run"]})
    assert [need.name for need in part.needs()] == ["caddy"]
    site = dataclasses.replace(site, programs={"caddy": Path("/opt/caddy")})
    command = present(part.command(site))
    assert (command.argv, command.folder) == (("/opt/caddy", "run"), site.suite_folder)


@pytest.mark.parametrize(
    ("name", "expected", "hint"),
    [
        ("backends.other.url", "no backend 'other'", "which are: db"),
        ("backends.db.uri", "backend 'db' gives no 'uri'", "it gives: url"),
    ],
)
def test_an_unknown_value_of_a_backend(site: Site, name: str, expected: str, hint: str) -> None:
    part = CommandServer.model_validate({"command": ["a", f"{{{name}}}"]})
    with pytest.raises(BenchforgeError, match=rf"servers\.mine: .*{expected}") as caught:
        part.command(dataclasses.replace(site, backends={"db": {"url": "x://"}}))
    assert hint in caught.value.hint


# --- what already runs ---------------------------------------------------------------------------


def test_what_already_runs_is_reached_over_the_hosts_network(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        part = Url.model_validate({"url": f"http://127.0.0.1:{port}/"})
        assert part.outside()
        assert part.command(site) is None
        assert part.url(site) == f"http://127.0.0.1:{port}"
        with HOST.trial(site.folder, network="host") as sandbox:
            assert accepts(sandbox, port)
    assert not Gunicorn.model_validate({"app": "a:b"}).outside()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.53:80", "[::1]:8080"])
def test_this_machine_has_many_names(site: Site, host: str) -> None:
    assert Url.model_validate({"url": f"http://{host}"}).url(site) == f"http://{host}"


def test_another_machine_has_to_be_allowed(site: Site) -> None:
    part = Url.model_validate({"url": "http://10.0.0.1:8080", "allow_remote": True})
    assert part.url(site) == "http://10.0.0.1:8080"


# --- options -------------------------------------------------------------------------------------


def test_how_much_each_works_at_is_told_where_it_is_known() -> None:
    assert TornadoServer(app="hello_tornado").workers_told() == 1
    assert TornadoServer(app="hello_wsgi", processes=2, threads=4).workers_told() == 8
    assert Gevent(app="hello_wsgi").workers_told() == 1
    assert ThreadsServer(app="pong_socket").workers_told() is None  # a thread for each connection
    assert Gunicorn(app="hello_wsgi", workers=3).workers_told() == 3


def test_the_version_of_a_command_is_that_of_its_package(tmp_path: Path) -> None:
    script = tmp_path / "serve"
    script.write_text(f"#!{sys.executable}\nraise SystemExit(1)\n")
    site = no_site(tmp_path, Path(sys.executable), {}, tmp_path)

    def answers(program: str) -> list[str]:
        command = CommandServer.model_validate({"command": [program]}).version(site)
        if command is None:
            return []
        return subprocess.check_output(command.argv, text=True).split()

    assert CommandServer.model_validate({"command": "./serve {port}"}).software == "serve"
    assert answers("serve") == []  # no package has such a program, and it is not started
    script.rename(tmp_path / "pytest")
    assert answers("./pytest")[0] == "pytest"
    assert answers("{python}")[0] == "Python"
    (tmp_path / "compiled").write_bytes(b"\x7fELF\xff\xfe")
    assert answers("compiled") == answers("absent") == []
