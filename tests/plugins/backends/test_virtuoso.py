"""Virtuoso: a private store with the data of a dataset, and whatever is wrong is told."""

import dataclasses
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchforge_backends.virtuoso import Virtuoso
from front_door import needed
from present import present
from serving.backends import HOST, neither_started_nor_filled, run, running, site_at, write_dataset

from benchforge.errors import TrialFailed
from benchforge.parts.command import Command
from benchforge.parts.site import Site, Succeeds
from benchforge.run.programs.template import restored
from benchforge.run.sandbox.host import Sandbox

pytestmark = pytest.mark.usefixtures("templates")
CLASS = "<http://www.w3.org/2002/07/owl#Class>"
# The queries of study WS.
GET = f"SELECT DISTINCT ?class FROM <http://graph-uri> WHERE {{ ?class a {CLASS} }} LIMIT 100"
POST = f"INSERT DATA {{ GRAPH <http://graph-uri> {{ <http://uri-1> a {CLASS} }} }}"
DELETE = f"DELETE FROM <http://graph-uri> {{ ?c a {CLASS} }} WHERE {{ ?c a {CLASS} }}"
ASK = """
import sys, urllib.error, urllib.parse, urllib.request
words = urllib.parse.urlencode({"query": sys.argv[2], "format": "application/sparql-results+json"})
how = {"GET": [sys.argv[1] + "?" + words], "POST": [sys.argv[1], words.encode()]}
try:
    answer = urllib.request.urlopen(*(how[sys.argv[3]]))
except urllib.error.HTTPError as error:
    sys.exit(f"{error.code} {error.read().decode()[:80]}")
sys.stdout.write(answer.read().decode())
"""


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    needed("virtuoso-t", "isql-vt")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="bf-") as scratch:
        yield site_at(Virtuoso(), tmp_path, Path(scratch))


def virtuoso(**options: Any) -> Virtuoso:
    return Virtuoso.model_validate(options)


def ask(sandbox: Sandbox, site: Site, url: str, query: str, method: str = "GET") -> tuple[int, str]:
    return run(sandbox, site, Command(sys.executable, "-c", ASK, url, query, method))


def rows(reply: str) -> list[Any]:
    return [*json.loads(reply)["results"]["bindings"]]


def isql(sandbox: Sandbox, site: Site, statement: str) -> str:
    to = (f"{site.address}:{site.ports['sql']}", "dba", "dba", "VERBOSE=OFF", "BANNER=OFF")
    return run(sandbox, site, Command(site.programs["isql-vt"], *to, f"EXEC={statement}"))[1]


# --- a store of our own --------------------------------------------------------------------------


def test_the_study_gets_its_one_row_of_184_bytes_and_may_post_and_delete(site: Site) -> None:
    part = virtuoso(dataset="classes")
    earlier = copy(part, site, "before")
    with running(part, site) as (sandbox, server, placed):
        settings = part.gives(placed)
        url = settings["url"]
        assert (settings["VIRTUOSO_URL"], settings["VIRTUOSO_GRAPH"]) == (url, "http://graph-uri")
        code, reply = ask(sandbox, placed, url, GET)
        assert (code, len(reply)) == (0, 184)
        assert rows(reply) == [{"class": {"type": "uri", "value": "http://dummyClass.com"}}]
        an_endpoint_that_is_there_is_neither_started_nor_filled(sandbox, placed, url)
        assert "1 (or less) triples -- done" in ask(sandbox, placed, url, POST, "POST")[1]
        assert len(rows(ask(sandbox, placed, url, GET)[1])) == 2
        assert "-- done" in ask(sandbox, placed, url, DELETE, "POST")[1]
        assert rows(ask(sandbox, placed, url, GET)[1]) == []
        assert sandbox.owns(server, placed.port)
        assert sandbox.stop(server, first=part.stop_signal).code == 0
        assert sandbox.processes(server) == []
    assert sandbox.left == 0
    assert copy(part, site, "after") == earlier  # what the next trial gets


def copy(part: Virtuoso, site: Site, name: str) -> bytes:
    """Return a digest of the store that a trial gets."""
    (scratch := site.scratch / name).mkdir()
    restored(HOST, "backend-mine", part, dataclasses.replace(site, scratch=scratch))
    with (scratch / "virtuoso.db").open("rb") as store:
        return hashlib.file_digest(store, "sha256").digest()


def an_endpoint_that_is_there_is_neither_started_nor_filled(
    sandbox: Sandbox, placed: Site, url: str
) -> None:
    part = virtuoso(url=url, graph="http://g")
    assert not virtuoso(dataset="classes").outside()
    neither_started_nor_filled(part, placed)
    assert not part.files(placed)
    assert part.gives(placed) == {"url": url, "VIRTUOSO_URL": url, "VIRTUOSO_GRAPH": "http://g"}
    probe, version = part.ready(placed), part.version(placed)
    assert isinstance(probe, Succeeds)
    assert run(sandbox, placed, probe.command)[0] == 0
    assert run(sandbox, placed, present(version))[1].startswith("Virtuoso/")
    for wrong in (f"{url}-not", url.replace(str(placed.port), "1")):
        probe = virtuoso(url=wrong).ready(placed)
        assert isinstance(probe, Succeeds)
        code, finished = run(sandbox, placed, probe.command)
        assert code == 1
        assert finished.startswith(f"{wrong}: ")


def test_without_a_dataset_it_is_empty_and_closed_to_writers(site: Site) -> None:
    part = virtuoso(graph="http://other", number_of_buffers=256, max_client_connections=1)
    with running(part, site) as (sandbox, _, placed):
        settings = part.gives(placed)
        assert settings["VIRTUOSO_GRAPH"] == "http://other"
        assert rows(ask(sandbox, placed, settings["url"], GET)[1]) == []
        code, reply = ask(sandbox, placed, settings["url"], POST, "POST")
        assert (code, "No permission to execute procedure" in reply) == (1, True)


@pytest.mark.exhaustive
def test_options_reach_the_server(site: Site) -> None:
    part = virtuoso(number_of_buffers=3000, max_client_connections=7)
    with running(part, site) as (sandbox, _, placed):
        ini = (placed.folder / "backend-mine.ini").read_text()
        assert "NumberOfBuffers = 3000\nMaxDirtyBuffers = 2250\n" in ini
        assert "MaxClientConnections = 7\n" in ini
        read = "cfg_item_value(virtuoso_ini_path(), 'Parameters', 'NumberOfBuffers')"
        assert isql(sandbox, placed, f"SELECT {read}").strip() == "3000"


@pytest.mark.exhaustive
def test_options_of_the_trials_share_one_template(own_templates: Path, site: Site) -> None:
    restored(HOST, "backend-mine", virtuoso(dataset="classes"), site)
    names = set(own_templates.iterdir())
    restored(HOST, "backend-mine", virtuoso(dataset="classes", number_of_buffers=999), site)
    assert set(own_templates.iterdir()) == names
    assert not (site.scratch / "virtuoso.lck").exists()
    assert not list(site.scratch.glob("*.ttl"))


def test_a_dataset_of_ones_own_has_turtle_sparql_and_sql(site: Site) -> None:
    files = {
        "it's a.ttl": '<http://a> <http://b> "x; y", 2 .\n',
        "b.sparql": "INSERT DATA { GRAPH <http://g> { <http://a> <http://c> 3 ; <http://d> 4 } } "
        ";\n"
        "DELETE DATA { GRAPH <http://g> { <http://a> <http://b> 2 } }\n",
        "c.sql": '-- a comment\nGRANT SPARQL_UPDATE TO "SPARQL";\n',
    }
    expects = '"http://g" = 3\n"http://none" = 0'
    part = virtuoso(
        dataset=write_dataset(site.suite_folder, "virtuoso", expects, files, "http://g")
    )
    restored(HOST, "backend-mine", part, site)  # it counts what was loaded
    assert (site.scratch / "virtuoso.db").exists()
    assert part.gives(site)["VIRTUOSO_GRAPH"] == "http://g"


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("name", "text", "triples", "expected"),
    [
        (
            *("a.ttl", "<http://a> <http://b> 1 .\n<x> <y", 1),
            "load a.ttl: 37000: [Vectorized Turtle loader] SP029: ",
        ),
        ("a.sparql", "INSERT DATA { <a> <b> }", 1, "load a.sparql: 37000: SQ074"),
        ("a.sql", "GRANT SELECT\n\nTO nobody;\n", 1, "load a.sql: line 1-3: 37000: "),
        ("a.sql", "create table t (a int);\nSELECT b FROM t;\n", 1, "load a.sql: line 2: S0022"),
        ("a.ttl", "<http://a> <http://b> 1 .\n", 2, "graph http://g has 1 triples instead of 2"),
    ],
)
def test_a_dataset_that_is_not_what_it_says_fails_the_trial_and_is_not_kept(
    own_templates: Path, site: Site, name: str, text: str, triples: int, expected: str
) -> None:
    expects = f'"http://g" = {triples}'
    folder = write_dataset(site.suite_folder, "virtuoso", expects, {name: text}, "http://g")
    with pytest.raises(TrialFailed) as caught:
        restored(HOST, "backend-mine", virtuoso(dataset=folder), site)
    assert expected in caught.value.message
    assert caught.value.stage == "prepare"
    assert not list(own_templates.glob("*"))


@pytest.mark.exhaustive
def test_a_damaged_template_is_found_before_its_use(site: Site) -> None:
    part = virtuoso(dataset="classes")
    with running(part, site) as (sandbox, _, placed):
        isql(sandbox, placed, "SPARQL CLEAR GRAPH <http://graph-uri>")
        (task,) = part.verify(placed)
        finished = sandbox.run("verify", task.command, placed.folder, {}, 200)
    assert task.judge(finished) == "graph http://graph-uri has 0 triples instead of 2"
