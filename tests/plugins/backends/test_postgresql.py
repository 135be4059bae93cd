"""PostgreSQL: a template is built once, copied for each trial, and whatever is wrong is told."""

import dataclasses
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchforge_backends.postgresql import Postgresql
from front_door import captured, lack, needed
from present import present
from serving.backends import HOST, neither_started_nor_filled, run, running, site_at, write_dataset

from benchforge.errors import BenchforgeError, TrialFailed
from benchforge.parts.command import Command
from benchforge.parts.site import Site, Succeeds
from benchforge.run.locate import locate
from benchforge.run.programs import template
from benchforge.run.programs.template import restored
from benchforge.run.sandbox.host import Sandbox

pytestmark = pytest.mark.usefixtures("templates")
ROOT = Path(__file__).parents[3]


def postgresql(**options: Any) -> Postgresql:
    return Postgresql.model_validate(options)


AS_NOBODY = """
import sys
from pathlib import Path
from benchforge.parts.command import Command
from benchforge.parts.site import Site
from benchforge.run.sandbox.host import LocalHost
from benchforge.run.locate import locate
from benchforge.run.programs.template import restored
from benchforge_backends.postgresql import Postgresql

part = Postgresql.model_validate({"dataset": "agents"})
programs = {need.name: locate(need.name) for need in part.needs()}
for number in range(2):
    folder, scratch = Path(sys.argv[1], f"t{number}"), Path(sys.argv[1], f"s{number}")
    folder.mkdir()
    scratch.mkdir(mode=0o700)
    python, ports = Path(sys.executable), {"postgresql": 5432}
    site = Site("agents", folder, scratch, "127.0.0.1", ports, python, programs, {}, folder, False)
    with LocalHost().trial(folder) as here:
        restored(LocalHost(), "backend-agents", part, site)
        server = here.start("postgresql", part.command(site), folder, {})
        while here.run("ready", part.ready(site).command, folder, {}, 200).code:
            here.wait(server, 0.1)
            assert here.alive(server), server.stderr.read_text()
        query = "SELECT count(*) FROM agentfeatures"
        words = (programs["psql"], "-XAtqc", query, part.gives(site)["url"])
        print(here.run("ask", Command(*words), folder, {}, 200).stdout.read_text(), end="")
"""


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    for need in postgresql().needs():
        if locate(need.name) is None:
            lack(f"{need.name} not found: {need.how}")


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A short folder: pytest's own are too long for sockets."""
    with tempfile.TemporaryDirectory(prefix="bf-") as folder:
        yield Path(folder)


@pytest.fixture
def site(tmp_path: Path, scratch: Path) -> Site:
    return site_at(postgresql(), tmp_path, scratch)


def ask(sandbox: Sandbox, site: Site, url: str, query: str) -> str:
    code, finished = run(sandbox, site, Command(site.programs["psql"], "-XAtqc", query, url))
    assert code == 0, finished
    return finished.strip()


def dataset(folder: Path, rows: str = "things = 2", **files: str) -> Postgresql:
    """A dataset of the user's, in a folder beside the suite."""
    creates, inserts = "CREATE TABLE things (id int);\n", "INSERT INTO things\nVALUES (1), (2);"
    texts = {f"{name}.sql": sql for name, sql in (files or {"a": creates, "b": inserts}).items()}
    return postgresql(dataset=write_dataset(folder, "postgresql", rows, texts))


# --- a cluster of our own ------------------------------------------------------------------------


@pytest.mark.parametrize("listen", ["unix", "tcp"])
def test_each_trial_has_the_dataset_alone(site: Site, scratch: Path, listen: str) -> None:
    part = postgresql(dataset="agents", listen=listen)
    with running(part, site) as (sandbox, server, placed):
        url = part.gives(placed)["DATABASE_URL"]
        assert ask(sandbox, placed, url, "SELECT count(*) FROM agentfeatures") == "50"
        assert ask(sandbox, placed, url, "SHOW fsync") == "off"
        assert ask(sandbox, placed, url, "SHOW max_connections") == "200"
        text = "SELECT host(inet_server_addr())"
        assert ask(sandbox, placed, url, text) == ("" if listen == "unix" else "127.0.0.1")
        assert sandbox.stop(server, first=part.stop_signal).code == 0
        assert sandbox.processes(server) == []
    assert sandbox.left == 0
    assert [file.name for file in scratch.iterdir()] == ["data"]


def test_drivers_of_python_understand_the_url(site: Site) -> None:
    drivers = {
        "psycopg2": "import os, psycopg2 as p; c = p.connect(os.environ['DATABASE_URL']).cursor();"
        "c.execute('SELECT count(*) FROM agentfeatures'); print(c.fetchone()[0])",
        "asyncpg": "import os, asyncio, asyncpg\nasync def main():\n"
        " c = await asyncpg.connect(os.environ['DATABASE_URL'])\n"
        " print(await c.fetchval('SELECT count(*) FROM agentfeatures'))\nasyncio.run(main())",
    }
    for name in drivers:
        if importlib.util.find_spec(name) is None:
            lack(f"the package {name} not found")
    for listen in ("unix", "tcp"):
        part = postgresql(dataset="agents", listen=listen)
        with tempfile.TemporaryDirectory(prefix="bf &") as odd:
            placed = dataclasses.replace(site, scratch=Path(odd))
            with running(part, placed) as (sandbox, _, placed):
                for code in drivers.values():
                    command = Command(sys.executable, "-c", code, environment=part.gives(placed))
                    assert run(sandbox, placed, command) == (0, "50\n")


def test_settings_reach_the_server_and_ours_give_way(site: Site) -> None:
    settings = {"Shared_Buffers": "16MB", "fsync": True, "max_connections": 30}
    settings |= {"seq_page_cost": 1.5, "our.own": "it's a \\ of two"}
    part = postgresql(settings=settings)
    with running(part, site) as (sandbox, _, placed):
        url = part.gives(placed)["url"]
        output = [ask(sandbox, placed, url, f"SHOW {name}") for name in settings]
    assert output == ["16MB", "on", "30", "1.5", "it's a \\ of two"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"shared_bufers": "16MB"}, 'unrecognized configuration parameter "shared_bufers"'),
        ({"max_connections": "many"}, 'invalid value for parameter "max_connections": "many"'),
    ],
)
def test_a_wrong_setting_ends_the_server_with_its_reason(
    site: Site, settings: dict[str, str], expected: str
) -> None:
    part = postgresql(settings=settings)
    restored(HOST, "backend-agents", part, site)
    with HOST.trial(site.folder) as sandbox:
        for name, text in part.files(site).items():
            (site.folder / name).write_text(text)
        finished = sandbox.run("postgresql", present(part.command(site)), site.folder, {}, 200)
    assert finished.code == 1
    assert expected in finished.stderr.read_text()


def test_an_ordinary_user_needs_no_root() -> None:
    if os.getuid() != 0:
        pytest.skip("every other test is one of an ordinary user already")
    python, packages = Path("/usr/bin/python3"), present(importlib.util.find_spec("pydantic"))
    path = f"{Path(present(packages.origin)).parents[1]}:{ROOT}:{ROOT}/plugins/backends"
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    with tempfile.TemporaryDirectory(prefix="bf-") as folder:
        os.chown(folder, 65534, 65534)
        environment = {"PYTHONPATH": path, "PATH": os.environ["PATH"], "XDG_CACHE_HOME": folder}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
        command = [*as_nobody, str(python), "-c", "import benchforge.run.sandbox.host"]
        if subprocess.run(command, env=environment, capture_output=True, check=False).returncode:
            lack(f"{python} cannot use {path} as nobody")
        finished = captured([*as_nobody, str(python), "-c", AS_NOBODY, folder], env=environment)
    assert (finished.returncode, finished.stdout) == (0, "50\n50\n"), finished.stderr


def test_with_tls_clients_choose_it_by_themselves_unless_they_are_told(site: Site) -> None:
    needed("openssl")
    part = postgresql(dataset="agents", listen="tcp", tls=True)
    assert "openssl" in [need.name for need in part.needs()]
    assert "openssl" not in [need.name for need in postgresql(listen="tcp").needs()]
    programs = {need.name: actual for need in part.needs() if (actual := locate(need.name))}
    placed = dataclasses.replace(site, programs=programs)
    query = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    with running(part, placed) as (sandbox, _, placed):
        url = part.gives(placed)["DATABASE_URL"]
        assert "sslmode" not in url
        assert ask(sandbox, placed, url, query) == "t"
        assert ask(sandbox, placed, f"{url}?sslmode=disable", query) == "f"
        assert (placed.scratch / "server.key").stat().st_mode & 0o777 == 0o600


# --- the template --------------------------------------------------------------------------------


def test_a_template_is_built_once(own_templates: Path, tmp_path: Path, scratch: Path) -> None:
    part = dataset(tmp_path)
    modes = set()
    for number in range(2):
        (scratch / str(number)).mkdir(mode=0o700)
        (tmp_path / str(number)).mkdir()
        placed = site_at(part, tmp_path / str(number), scratch / str(number), port=5000 + number)
        placed = dataclasses.replace(placed, suite_folder=tmp_path)
        restored(HOST, "backend-mine", part, placed)
        modes.add((placed.scratch / "data").stat().st_mode & 0o777)
        assert (placed.scratch / "data/PG_VERSION").is_file()
    assert modes == {0o700}
    assert len([path for path in own_templates.iterdir() if path.is_dir()]) == 1
    assert (tmp_path / "0/backend-mine-template/server.log").is_file()
    assert not list((tmp_path / "1").iterdir())  # nothing had to be built


def test_another_content_of_the_dataset_is_another_template(tmp_path: Path, site: Site) -> None:
    part = dataset(tmp_path)
    key = template._key(part, site)
    assert template._key(postgresql(dataset="./mine", settings={"fsync": True}), site) == key
    dataset(tmp_path, a="CREATE TABLE things (id int);", b="INSERT INTO things VALUES (3), (4);")
    assert template._key(part, site) != key
    programs = {**site.programs, "postgres": site.programs["psql"]}
    older = dataclasses.replace(site, programs=programs)
    assert template._key(postgresql(), site) != template._key(postgresql(), older)


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("rows", "files", "expected"),
    [
        ("things = 3", {}, "mine: count the rows: things has 2 rows instead of 3"),
        ("thing = 2", {}, 'mine: count the rows: ERROR:  relation "thing" does not exist'),
        (
            "things = 0",
            {"a": "CREATE TABLE things (id int);\n\nINSERT INTO thigs VALUES (1);\n"},
            'mine: load a.sql: {folder}/mine/a.sql:3: ERROR:  relation "thigs" does not exist',
        ),
    ],
)
def test_a_dataset_that_is_not_what_it_says_fails_the_trial_and_is_not_kept(
    own_templates: Path, site: Site, rows: str, files: dict[str, str], expected: str
) -> None:
    part = dataset(site.folder, rows, **files)
    with pytest.raises(TrialFailed) as caught:
        restored(HOST, "backend-mine", part, site)
    assert caught.value.message == expected.format(folder=site.suite_folder)
    assert caught.value.stage == "prepare"
    assert not list(own_templates.glob("*"))
    assert not list(site.scratch.iterdir())


def test_a_damaged_template_is_found_before_its_use(site: Site) -> None:
    part = postgresql(dataset="agents")
    with running(part, site) as (sandbox, _, placed):
        ask(sandbox, placed, part.gives(placed)["url"], "DELETE FROM agentfeatures WHERE id = 1")
        judged = [
            task.judge(sandbox.run(f"verify{number}", task.command, placed.folder, {}, 200))
            for number, task in enumerate(part.verify(placed))
        ]
    assert list(filter(None, judged)) == ["agentfeatures has 49 rows instead of 50"]


def test_a_cluster_that_cannot_start_says_why(site: Site, scratch: Path) -> None:
    deep = scratch / ("x" * 100)
    deep.mkdir()
    tasks = postgresql().template(dataclasses.replace(site, scratch=deep))
    (start,) = (task for task in tasks if task.says == "start the new cluster")
    assert start.command.argv[1] == "start"
    log = site.folder / "server.log"
    log.write_text("LOG:  hm\nFATAL:  could not create any Unix-domain sockets\n")
    with HOST.trial(site.folder) as sandbox:
        failed = sandbox.run("false", Command("false"), site.folder, {}, 200)
    assert start.judge(failed) == "FATAL:  could not create any Unix-domain sockets"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "No such file or directory"),
        ("name = ", "Invalid value"),
        ('name = "a"\nfiles = []', "rows: Field required"),
        ('name = "a"\nfiles = ["x.sql"]\n[rows]\n', "files: there is no .*mine/x.sql"),
    ],
)
def test_an_unreadable_dataset_names_its_file(site: Site, text: str | None, expected: str) -> None:
    if text is not None:
        (site.folder / "mine").mkdir()
        (site.folder / "mine/dataset.toml").write_text(text)
    with pytest.raises(BenchforgeError, match=rf"mine/dataset\.toml: {expected}") as caught:
        restored(HOST, "backend-mine", postgresql(dataset="./mine"), site)
    assert caught.value.hint


# --- one that already runs -----------------------------------------------------------------------


def test_a_running_database_is_neither_started_nor_filled(site: Site, tmp_path: Path) -> None:
    first_side = postgresql(dataset="agents", listen="tcp")
    with running(first_side, site) as (sandbox, _, placed):
        url = first_side.gives(placed)["url"].replace("bench@", "bench:secret@")
        part = postgresql(url=url)
        assert not first_side.outside()
        neither_started_nor_filled(part, placed, "psql")
        assert part.gives(placed) == {"url": url, "DATABASE_URL": url}
        probe, version = part.ready(placed), part.version(placed)
        assert isinstance(probe, Succeeds)
        other = first_side.gives(placed)["url"] + "&password=s%26cret"
        parameter = postgresql(url=other).ready(placed)
        assert isinstance(parameter, Succeeds)
        assert parameter.command.environment == {"PGPASSWORD": "s&cret"}
        assert run(sandbox, placed, parameter.command) == (0, "1\n")
        words = " ".join([*probe.command.argv, *parameter.command.argv])
        assert "secret" not in words
        assert "s%26cret" not in words
        assert probe.command.environment == {"PGPASSWORD": "secret"}
        assert run(sandbox, placed, probe.command) == (0, "1\n")
        assert run(sandbox, placed, present(version))[1].startswith("1")
