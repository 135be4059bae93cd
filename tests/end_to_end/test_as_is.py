"""Apps as they are: a database at db:5432 with a user and a password, and a port of their own."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest
from front_door import PROGRAMS, Bench, bench_words, captured, lack, needed, needed_module
from suite_texts.files import suite_text
from users import WITHOUT_NAMESPACES

APPS = PROGRAMS / "apps/shop_as_is"
HOSTS = Path("/etc/hosts")
SUITE = suite_text("end_to_end/as_is", apps=APPS)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    needed("postgres", "psql", "initdb", "redis-server", "redis-cli")
    data = tmp_path / "data"
    data.mkdir()
    # The owner is there before the data, as in a container whose POSTGRES_USER it is.
    sql = 'CREATE TABLE articles (id int);\nGRANT ALL ON articles TO "shop owner";\n'
    (data / "schema.sql").write_text(f"{sql}INSERT INTO articles VALUES (1), (2);\n")
    (data / "dataset.toml").write_text('name = "x"\nfiles = ["schema.sql"]\n[rows]\narticles = 2\n')
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return path


def test_an_app_finds_its_database_and_cache(bench: Bench, suite: Path) -> None:
    for module in ("gunicorn", "psycopg", "redis"):
        needed_module(module)
    content = HOSTS.read_bytes()
    bench("run", suite, code=0)
    assert HOSTS.read_bytes() == content
    (path,) = suite.parent.glob("results/*/trials/*/trial.json")
    trial = json.loads(path.read_text())
    assert trial["failure"] is None
    assert trial["url"] == "http://127.0.0.1:8080/"
    by_label = {process["label"]: process for process in trial["processes"]}
    assert by_label["server-shop"]["interpreter"] == os.path.realpath(sys.executable)
    files = [parent for parent in path.parents[2].rglob("*") if parent.is_file()]
    assert len(files) > 10
    assert [file for file in files if b"only-for-the-shop" in file.read_bytes()] == []
    bench("verify", path.parents[2], code=0)


@pytest.mark.parametrize("words", [("run", "suite.toml"), ("serve", "suite.toml", "shop")])
def test_a_port_in_use(bench: Bench, suite: Path, words: tuple[str, ...]) -> None:
    text = SUITE.replace("smoke = true", 'smoke = true\nnetwork = "host"')
    with socket.create_server(("127.0.0.1", 0)) as listening:
        taken = listening.getsockname()[1]
        suite.write_text(text.replace("port = 6379", f"port = {taken}"))
        call = bench(*words, code=2)
    (error,) = [line for line in call.err.splitlines() if line.startswith("error: ")]
    path = "suite.toml:4:35: backends.store.port"
    assert error.startswith(f"error: {path}: a trial cannot listen on port {taken}: address")
    assert f"in use by process {os.getpid()} " in error
    assert not (suite.parent / "results").exists()


def test_names_without_namespaces_are_one_error_with_its_place(suite: Path) -> None:
    suite.write_text(SUITE.replace('"database", "store"', '"database"'))
    words = [*WITHOUT_NAMESPACES, *bench_words("run", suite.name)]
    done = captured(words, cwd=suite.parent)
    if done.stderr.startswith("unshare"):
        lack(done.stderr)
    assert done.returncode == 2, done.stderr
    (error,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    text = "suite.toml:11:1: backends.database.names"
    message = "programs of a trial cannot resolve db, tfb-database; no private network namespace"
    assert error.startswith(f"error: {text}: {message}")
    assert "hint: allow benchforge to make namespaces" in done.stderr


@pytest.mark.samples(4)
@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("backends.store.port=5432", "port 5432 is the port of backends.database, too"),
        ("servers.shop.port=5432", "port 5432 is the port of backends.database, too"),
        ('backends.store.names=["Localhost"]', "'Localhost' has an address already"),
        ('backends.store.names=["10.1"]', "'10.1' has an address already"),
        ('backends.store.names=["a b"]', "'a b' is not a host name"),
        ('backends.store.listen="unix"', "port, names, password need TCP"),
        ('backends.database.user="pg_me"', "'pg_me' begins with 'pg_'"),
        ('backends.database.database="template1"', "is a template of PostgreSQL"),
        ('backends.database.database=""', "'' is not a name of 1 to 63 bytes"),
        ("backends.store.port=65536", "expected at most 65535, got 65536"),
        ('servers.shop.command="gunicorn \'shop"', "no closing quotation"),
        ('servers.shop.command="{pyton} x"', "no placeholder {pyton}"),
        ('servers.shop.runtime="other"', "no runtime 'other' is declared"),
    ],
)
def test_a_wrong_address_is_an_error(bench: Bench, suite: Path, setting: str, says: str) -> None:
    call = bench("check", suite, "--set", setting, code=2)
    assert call.err.count("error: ") == 1
    assert says in call.err


def test_serve_takes_no_other_port_than_the_program(bench: Bench, suite: Path) -> None:
    call = bench("serve", suite, "shop", "--port", "8081", code=2)
    assert "--port 8081: servers.shop listens on port 8080" in call.err
